// `pressroom doctor`: checks whether Pressroom can run on this machine. Each finding is one line:
// ok, warn or fail, and the fix. Changes nothing.
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
import { findMongod, pastEndOfLife, upgradeAdvice } from './mongod-binary.ts';
import { portIsFree, whoListens } from './ports.ts';

export interface Finding {
  level: 'ok' | 'warn' | 'fail';
  text: string;
}

const ok = (text: string): Finding => ({ level: 'ok', text });
const warn = (text: string): Finding => ({ level: 'warn', text });
const fail = (text: string): Finding => ({ level: 'fail', text });

const MIB = 2 ** 20;
/** mongod and Node together. */
const BASE_MIB = 300;
/** The idle Chrome of a slot uses 90 MiB, and an ordinary page another 100 MiB. */
const SLOT_MIB = 190;
/** Processes and threads of mongod and Node. */
const BASE_PROCESSES = 100;
/**
 * A Chrome has 65 threads in 8 processes on two cores, and more on more cores. Pages can start
 * threads as well.
 */
const SLOT_PROCESSES = 150;

export function checkNode(version: string): Finding {
  return Number(version.split('.')[0]) >= 24
    ? ok(`Node ${version}`)
    : fail(
        `Node ${version} is too old. Use Node 24 or newer, or run \`npm start\`, which installs one.`,
      );
}

/** Starts Chrome as its configured user. */
export async function checkChrome(
  env: NodeJS.ProcessEnv,
  config: WorkerConfig['chrome'],
): Promise<Finding> {
  const as = config.uid === undefined ? '' : `, as user ${config.uid}`;
  try {
    const executable = await findInstalledChrome(env);
    if (!executable)
      return warn(
        'Chrome is not installed. Run `npm start` to install it, install chromium-headless-shell, or set PRESSROOM_CHROME.',
      );
    const chrome = await launchChrome({ ...config, executable }, silentLog);
    await chrome.close();
    const what = `${chrome.version} (${executable})${as}`;
    if (!config.sandbox)
      return warn(
        `${what} runs without its sandbox: a page that exploits its renderer controls this user account. Unset PRESSROOM_CHROME_SANDBOX.`,
      );
    return executable.includes('shell') || /(?:^|\/)chrome-npm-[^/]+\//.test(executable)
      ? ok(`${what}, sandbox works`)
      : warn(
          `${what}, sandbox works. A headless shell (Debian: chromium-headless-shell) is about five times as fast.`,
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
      return ok('MongoDB at MONGODB_URI is responding');
    } catch (error) {
      return fail(`MongoDB at MONGODB_URI is not responding: ${(error as Error).message}`);
    } finally {
      await store.stop(AbortSignal.timeout(2_000));
    }
  }
  const found = await findMongod(env, () => {});
  if (!found)
    return warn(
      'mongod is not installed. Run `npm start` to download it, install MongoDB 7.0 or newer, or set MONGODB_URI.',
    );
  const advice = pastEndOfLife(found.version) ? `. ${upgradeAdvice}` : '';
  return ok(`mongod ${found.version} (${found.path})${advice}`);
}

export async function checkPort(port: number, variable: string, what: string): Promise<Finding> {
  if (port === 0 || (await portIsFree('0.0.0.0', port)))
    return ok(`Port ${port} is free (${what})`);
  const who = await whoListens(port);
  return warn(
    `Port ${port} (${what}) is in use${who ? ` by ${who.name} (process ${who.pid})` : ''}. Stop that process or set ${variable}.`,
  );
}

/** The address for browsers and MCP clients. */
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
      `${at}. The dashboard and /mcp only work at the root of a host. Use a URL without a path.`,
    );
  const local = hostname === 'localhost' || hostname.endsWith('.localhost');
  if (protocol === 'http:' && !local)
    return warn(
      `${at}. Passwords and tokens are sent unencrypted, and many MCP clients require HTTPS. Use an https:// URL.`,
    );
  if (!mcp.on) return ok(at);
  return local
    ? ok(
        `${at}. MCP clients on this machine can connect to ${publicUrl}/mcp. Claude and ChatGPT on the web need a public https:// URL.`,
      )
    : ok(
        `${at}. MCP clients can connect to ${publicUrl}/mcp; those on the web need it to be reachable from the internet.`,
      );
}

export function checkMemory(freeBytes: number, slots: number): Finding {
  const free = Math.floor(freeBytes / MIB);
  const needed = BASE_MIB + slots * SLOT_MIB;
  if (free >= needed) return ok(`${free} MiB of memory available for ${slots} concurrent renders`);
  return (free < BASE_MIB + SLOT_MIB ? fail : warn)(
    `${free} MiB of memory available, but ${slots} concurrent renders need ${needed} MiB. Add memory or reduce PRESSROOM_SLOTS.`,
  );
}

/** `limit`: concurrent processes and threads; undefined when there is no limit. */
export function checkProcesses(limit: number | undefined, slots: number): Finding {
  const needed = BASE_PROCESSES + slots * SLOT_PROCESSES;
  if (limit === undefined) return ok('No limit on processes');
  if (limit >= needed)
    return ok(`Limit of ${limit} processes and threads for ${slots} concurrent renders`);
  return (limit < BASE_PROCESSES + SLOT_PROCESSES ? fail : warn)(
    `Limit of ${limit} processes and threads, but ${slots} concurrent renders need ${needed}. Raise the limit (ulimit -u, or pids of the cgroup or container) or reduce PRESSROOM_SLOTS.`,
  );
}

const readQuietly = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** The lowest process limit of this process: its own or that of its cgroup (version 1 or 2). */
export function processLimit(read: (file: string) => string = readQuietly): number | undefined {
  const [, version1, path = '/'] = /^\d+:(?:(pids)|):(.*)$/m.exec(read('/proc/self/cgroup')) ?? [];
  const mount = version1 ? '/sys/fs/cgroup/pids' : '/sys/fs/cgroup';
  // In a container the path may be that of the host; its own cgroup is then the root of the mount.
  const texts = [
    /^Max processes +(\w+)/m.exec(read('/proc/self/limits'))?.[1],
    read(`${mount}${path}/pids.max`),
    read(`${mount}/pids.max`),
  ];
  const limits = texts.map(text => Number.parseInt(text ?? '', 10)).filter(limit => limit >= 0);
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/**
 * Checks the fonts in Chrome itself, which runs as another user and may find others. Returns one
 * finding for the available scripts and one for each missing package.
 */
export async function checkFonts(
  env: NodeJS.ProcessEnv,
  config: WorkerConfig['chrome'],
): Promise<Finding[]> {
  try {
    const executable = await findInstalledChrome(env);
    if (!executable) return [warn('Fonts not checked: Chrome is not installed.')];
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
            `No font for ${names(scripts)}. This text prints as empty boxes. Install ${scripts[0]!.fontPackage}.`,
          ),
        ),
    ];
  } catch {
    return [warn('Fonts not checked: Chrome does not start.')];
  }
}

const names = (scripts: readonly Script[]) => scripts.map(({ name }) => name).join(', ');

/**
 * Prints one line for each finding. Returns false when a check fails. Throws ConfigError for
 * invalid variables.
 */
export async function doctor(
  env: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<boolean> {
  const process_ = readConfig(processVariables, env);
  const api = readApiConfig(env);
  const worker = readWorkerConfig(env);
  let good = true;
  const report = ({ level, text }: Finding) => {
    good &&= level !== 'fail';
    print(`${level.padEnd(4)}  ${text}\n`);
  };
  report(checkNode(process.versions.node));
  report(await checkChrome(env, worker.chrome));
  report(await checkMongo(env, api.mongodbUri));
  report(await checkPort(api.http.port, 'PRESSROOM_PORT', 'the API'));
  report(
    await checkPort(
      process_.PRESSROOM_OPERATIONS_PORT,
      'PRESSROOM_OPERATIONS_PORT',
      'metrics and probes',
    ),
  );
  report(await checkPort(worker.gateway.port, 'PRESSROOM_GATEWAY_PORT', 'a separate worker'));
  report(checkPublicUrl(api));
  report(checkMemory(availableMemory(), worker.capacity));
  report(checkProcesses(processLimit(), worker.capacity));
  for (const finding of await checkFonts(env, worker.chrome)) report(finding);
  return good;
}
