// Looks for what keeps Pressroom from running on this machine. Each finding is one line: ok, warn
// or fail, and how to mend it. Changes nothing.
import { readFileSync } from 'node:fs';
import { availableMemory } from 'node:process';
import { type ApiConfig, readApiConfig } from '../api/config.ts';
import { connectStore } from '../api/store/store.ts';
import { processVariables, readConfig } from '../common/config.ts';
import { silentLog } from '../common/log.ts';
import { launchChrome } from '../worker/browser/chrome.ts';
import { readWorkerConfig, type WorkerConfig } from '../worker/config.ts';
import { findInstalledChrome } from './chrome.ts';
import { FONT_PACKAGES, SCRIPTS, type Script, scriptsWithoutFont } from './fonts.ts';
import { findMongod, pastEndOfLife, upgradeAdvice } from './mongod.ts';
import { portIsFree, whoListens } from './ports.ts';

export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  text: string;
}

const ok = (text: string): Finding => ({ level: 'ok', text });
const warn = (text: string): Finding => ({ level: 'warn', text });
const fail = (text: string): Finding => ({ level: 'fail', text });

const MIB = 2 ** 20;
/** mongod and Node take about 300 MiB together. */
const BASE_MIB = 300;
/** The Chrome of a slot takes 90 MiB while it waits, and an ordinary page 100 MiB on top. */
const SLOT_MIB = 190;
/** Threads count as processes here. mongod and Node have about 100. */
const BASE_PROCESSES = 100;
/**
 * A Chrome has 65 threads in 8 processes on two cores, more on more of them, and a page can start
 * some.
 */
const SLOT_PROCESSES = 150;

export function checkNode(version: string): Finding {
  return Number(version.split('.')[0]) >= 24
    ? ok(`Node ${version}`)
    : fail(`Node ${version}: 24 or newer is needed. Run it with npm, whose packages bring one.`);
}

/** Really starts it, as the user it will run as. */
export async function checkChrome(
  env: NodeJS.ProcessEnv,
  config: WorkerConfig['chrome'],
): Promise<Finding> {
  const as = config.uid === undefined ? '' : `, as user ${config.uid}`;
  try {
    const executable = await findInstalledChrome(env);
    if (!executable)
      return warn(
        'No Chrome yet. `npm start` installs one; or install chromium-headless-shell, or set PRESSROOM_CHROME.',
      );
    const chrome = await launchChrome({ ...config, executable }, silentLog);
    await chrome.close();
    const what = `${chrome.version} (${executable})${as}`;
    if (!config.sandbox)
      return warn(
        `${what}, without its sandbox: a page that breaks out of its renderer owns this account. Unset PRESSROOM_CHROME_SANDBOX.`,
      );
    return executable.includes('shell') || /(?:^|\/)chrome-npm-[^/]+\//.test(executable)
      ? ok(`${what}, its sandbox works`)
      : warn(
          `${what}, its sandbox works; a headless shell (Debian: chromium-headless-shell) is about five times as fast.`,
        );
  } catch (error) {
    return fail((error as Error).message);
  }
}

export async function checkMongo(
  env: NodeJS.ProcessEnv,
  uri: string | undefined,
): Promise<Finding> {
  if (uri) {
    const store = connectStore({ uri, operationTimeoutMs: 2_000 }, silentLog);
    try {
      await store.ping(2_000);
      return ok('MongoDB answers at MONGODB_URI');
    } catch (error) {
      return fail(`MongoDB does not answer at MONGODB_URI: ${(error as Error).message}`);
    } finally {
      await store.stop(AbortSignal.timeout(2_000));
    }
  }
  const found = await findMongod(env, () => {});
  if (!found)
    return warn(
      'No mongod yet. `npm start` downloads one; or install MongoDB 7.0 or newer, or set MONGODB_URI.',
    );
  const advice = pastEndOfLife(found.version) ? `. ${upgradeAdvice}` : '';
  return ok(`mongod ${found.version} (${found.path})${advice}`);
}

export async function checkPort(port: number, variable: string, what: string): Promise<Finding> {
  if (port === 0 || (await portIsFree('0.0.0.0', port)))
    return ok(`Port ${port} is free (${what})`);
  const who = await whoListens(port);
  return warn(
    `Port ${port} (${what}) is taken${who ? ` by ${who.name} (process ${who.pid})` : ''}. End that, or set ${variable}.`,
  );
}

/** Where people and chat programs come to. */
export function checkPublicUrl({
  publicUrl,
  dashboard,
  mcp,
}: Pick<ApiConfig, 'publicUrl' | 'dashboard' | 'mcp'>): Finding {
  const { protocol, hostname, pathname } = new URL(publicUrl);
  const at = `PRESSROOM_PUBLIC_URL is ${publicUrl}`;
  if (!dashboard.on) return ok(at);
  if (pathname !== '/')
    return warn(
      `${at}: the dashboard and /mcp work at the root of a host alone. Give it a host name without a path.`,
    );
  const local = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol === 'http:' && !local)
    return warn(
      `${at}: passwords and tokens travel in the open, and many chat programs refuse that. Give it https.`,
    );
  if (!mcp.on) return ok(at);
  return local
    ? ok(
        `${at}: ${publicUrl}/mcp is for programs on this machine. Claude and ChatGPT on the web need one with https that the internet reaches.`,
      )
    : ok(
        `${at}: ${publicUrl}/mcp is for chat programs, on the web too when the internet reaches it.`,
      );
}

export function checkMemory(freeBytes: number, slots: number): Finding {
  const free = Math.floor(freeBytes / MIB);
  const wanted = BASE_MIB + slots * SLOT_MIB;
  if (free >= wanted) return ok(`${free} MiB of memory are free, for ${slots} renders at once`);
  return (free < BASE_MIB + SLOT_MIB ? fail : warn)(
    `${free} MiB of memory are free; ${slots} renders at once want ${wanted}. Give it more, or set PRESSROOM_SLOTS lower.`,
  );
}

/** `limit`: processes and threads that may run at once; undefined when there is no limit. */
export function checkProcesses(limit: number | undefined, slots: number): Finding {
  const wanted = BASE_PROCESSES + slots * SLOT_PROCESSES;
  if (limit === undefined) return ok('The number of processes is not limited');
  if (limit >= wanted)
    return ok(`${limit} processes and threads may run, for ${slots} renders at once`);
  return (limit < BASE_PROCESSES + SLOT_PROCESSES ? fail : warn)(
    `${limit} processes and threads may run; ${slots} renders at once want ${wanted}. Raise the limit (ulimit -u, pids of the cgroup or container), or set PRESSROOM_SLOTS lower.`,
  );
}

const readQuietly = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/**
 * The smallest limit of processes that this process has: its own, or that of its cgroup of either
 * version.
 */
export function processLimit(read: (file: string) => string = readQuietly): number | undefined {
  const [, version1, path = '/'] = /^\d+:(?:(pids)|):(.*)$/m.exec(read('/proc/self/cgroup')) ?? [];
  const mount = version1 ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup';
  // In a container the path may be one of the host, and its own cgroup the root of the mount.
  const texts = [
    /^Max processes +(\w+)/m.exec(read('/proc/self/limits'))?.[1],
    read(`${mount}${path}/pids.max`),
    read(`${mount}/pids.max`),
  ];
  const limits = texts.map(text => Number.parseInt(text ?? '', 10)).filter(limit => limit >= 0);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * Chrome itself is asked, since it alone knows what it finds and as which user. One line for those
 * that are there, one for each package that is missing.
 */
export async function checkFonts(
  env: NodeJS.ProcessEnv,
  config: WorkerConfig['chrome'],
): Promise<Finding[]> {
  try {
    const executable = await findInstalledChrome(env);
    if (!executable) return [warn('Fonts are looked for when there is a Chrome.')];
    const missing = await scriptsWithoutFont({ ...config, executable });
    const there = SCRIPTS.filter(script => !missing.includes(script));
    return [
      ...(there.length === 0 ? [] : [ok(`Fonts for ${names(there)}`)]),
      ...FONT_PACKAGES.map(fontPackage =>
        missing.filter(script => script.fontPackage === fontPackage),
      )
        .filter(scripts => scripts.length > 0)
        .map(scripts =>
          warn(
            `No font for ${names(scripts)}: the text will be empty boxes. Install ${scripts[0]!.fontPackage}.`,
          ),
        ),
    ];
  } catch {
    return [warn('Fonts are looked for when Chrome starts.')];
  }
}

const names = (scripts: readonly Script[]) => scripts.map(({ name }) => name).join(', ');

/**
 * Prints one line a finding. False when something fails. Throws ConfigError when the environment is
 * wrong.
 */
export async function doctor(
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<boolean> {
  const process_ = readConfig(processVariables, env);
  const api = readApiConfig(env);
  const worker = readWorkerConfig(env);
  let good = true;
  const tell = ({ level, text }: Finding) => {
    good &&= level !== 'fail';
    print(`${level.padEnd(4)}  ${text}\n`);
  };
  tell(checkNode(process.versions.node));
  tell(await checkChrome(env, worker.chrome));
  tell(await checkMongo(env, api.mongodbUri));
  tell(await checkPort(api.http.port, 'PRESSROOM_PORT', 'the API'));
  tell(
    await checkPort(
      process_.PRESSROOM_OPERATIONS_PORT,
      'PRESSROOM_OPERATIONS_PORT',
      'metrics and probes',
    ),
  );
  tell(await checkPort(worker.gateway.port, 'PRESSROOM_GATEWAY_PORT', 'a worker by itself'));
  tell(checkPublicUrl(api));
  tell(checkMemory(availableMemory(), worker.capacity));
  tell(checkProcesses(processLimit(), worker.capacity));
  for (const finding of await checkFonts(env, worker.chrome)) tell(finding);
  return good;
}
