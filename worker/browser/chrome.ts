// One Chrome: starts headless-shell behind a pipe, with its sandbox on and as a user that is not
// root, and ends it with all its processes. Owns the flags.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Log } from '../../common/log.ts';
import { trustCaCertificates } from './ca-certificates.ts';
import { CdpPipe } from './cdp-pipe.ts';
import { hasOwnFilter, startLine } from './chrome-start.ts';
import { isHeadlessShell } from './find-chrome.ts';
import { type ChromeProcess, processesOf } from './process-usage.ts';
import { isAlive, makeProfile, type Profile } from './profile.ts';

export interface ChromeConfig {
  executable: string;
  sandbox: boolean;
  /** The user Chrome runs as; only root can and must change it. */
  uid: number | undefined;
  /** Certificates in PEM of authorities that it trusts besides the public ones. */
  authorities: string | undefined;
  /** Upper bound of a renderer's JavaScript heap. */
  heapMiB: number;
  startTimeoutMs: number;
  /**
   * In a process group of its own all of its processes can be ended, also those that outlive their
   * browser and have another parent then.
   */
  ownGroup: boolean;
}

export interface Chrome {
  readonly pid: number;
  readonly version: string;
  readonly pipe: CdpPipe;
  /** As of at most `maxAgeMs` ago. */
  processes(maxAgeMs?: number): ChromeProcess[];
  /**
   * False when the process has died through which its pages reach the network: Chrome starts
   * another, but the pages that are open stay cut off.
   */
  connected(): boolean;
  /** Settles when the browser process is gone, however it went. */
  readonly exited: Promise<string>;
  /**
   * Ends it (its pipe first, SIGKILL after 2 s), then what is left of its processes, and removes
   * its profile. Calling it again waits for the same end.
   */
  close(): Promise<void>;
  /** SIGKILL to all of its processes. */
  kill(): void;
}

/**
 * Thrown when Chrome cannot start with its sandbox: the operator must decide, it is never switched
 * off quietly.
 */
export class NoSandbox extends Error {
  override name = 'NoSandbox';
}

/**
 * Nobody sees a page's screen frames: with less memory for its tiles than one of them takes, none
 * is painted. Frames come and go as ever, for all that waits for them; print and canvases have no
 * tiles.
 */
export const UNPAINTED = [
  '--force-gpu-mem-available-mb=1',
  '--default-tile-width=1024',
  '--default-tile-height=1024',
];

/**
 * Chrome itself reaches no network: every context has a proxy of its own, everything else is
 * pointed at a port where nobody listens, and names are not resolved here. WebRTC would send UDP
 * past the proxy; only this policy stops it (seen on Chromium 156).
 */
export const chromeFlags = (
  config: Pick<ChromeConfig, 'sandbox' | 'heapMiB'>,
  profile: string,
): string[] => [
  // Which a headless shell is anyway; without it a full browser would look for a screen, and not
  // live until it is refused.
  '--headless',
  '--remote-debugging-pipe',
  `--user-data-dir=${profile}`,
  ...(config.sandbox ? [] : ['--no-sandbox']),
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-sync',
  '--disable-breakpad',
  '--disable-crash-reporter',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-hang-monitor',
  // Each popup would have a renderer, and so a memory limit, of its own.
  '--block-new-web-contents',
  '--disable-back-forward-cache',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-pings',
  '--mute-audio',
  '--hide-scrollbars',
  '--font-render-hinting=none',
  '--force-color-profile=srgb',
  '--log-level=3',
  `--js-flags=--max-old-space-size=${config.heapMiB}`,
  ...UNPAINTED,
];

/**
 * Keeps the last of what Chrome says until it is up, for the error message; afterwards it is
 * dropped, since pages can write there.
 */
function listenWhileStarting(child: ChildProcess) {
  let said = '';
  const keep = (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_096);
  };
  child.stderr?.on('data', keep);
  return {
    text: () => said,
    stop: () => {
      child.stderr?.off('data', keep);
      child.stderr?.resume();
      said = '';
    },
  };
}

const explain = (said: string, why: string): Error =>
  /No usable sandbox|Failed to move to new namespace|Running as root without --no-sandbox|s(?:et)?uid sandbox/i.test(
    said,
  )
    ? new NoSandbox(
        'Chrome cannot use its sandbox here. Allow user namespaces to this container or user (seccomp, sysctl kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns), ' +
          'install the set-uid helper (Debian: chromium-sandbox), or set PRESSROOM_CHROME_SANDBOX=off and accept that a page which breaks out of its renderer owns the worker.',
      )
    : new Error(
        `${why}${said ? `; it said: ${said.trim().split('\n').slice(-3).join(' | ')}` : ''}`,
      );

/** Signals a process, or with a negative number a process group, that may be gone already. */
export function killQuietly(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Watches the process that is the network of all pages, once it is known. */
function watchProcesses(browserPid: number): Pick<Chrome, 'processes' | 'connected'> {
  let network: number | undefined;
  return {
    processes(maxAgeMs) {
      const processes = processesOf(browserPid, maxAgeMs);
      network ??= processes.find(({ type }) => type === 'network.mojom.NetworkService')?.pid;
      return processes;
    },
    connected: () => network === undefined || isAlive(network),
  };
}

/** A distribution's executable may be a script: the browser is one of its processes. */
async function hello(pipe: CdpPipe): Promise<{ version: string; pid: number }> {
  const [{ product }, { processInfo }] = await Promise.all([
    pipe.command<{ product: string }>('Browser.getVersion'),
    pipe.command<{ processInfo: { type: string; id: number }[] }>('SystemInfo.getProcessInfo'),
  ]);
  return { version: product, pid: processInfo.find(({ type }) => type === 'browser')!.id };
}

/** Gives a sentence in place of what a browser says that must not be used. */
const refuseFullBrowser = <T extends { version: string }>(said: T): T | string =>
  isHeadlessShell(said.version)
    ? said
    : `this is a full browser (${said.version}), from which pages could reach private addresses by WebRTC: use a headless shell (Debian: chromium-headless-shell, elsewhere chrome-headless-shell)`;

/**
 * Starts Chrome and waits until it answers. Throws NoSandbox, or an Error that says what is in the
 * way, with the last that Chrome said. `signal` ends a start that is under way, with the same
 * error.
 */
export async function launchChrome(
  config: ChromeConfig,
  log: Log,
  signal?: AbortSignal,
): Promise<Chrome> {
  const profile = await makeProfile(config.uid);
  try {
    if (config.authorities !== undefined)
      await trustCaCertificates(profile.path, config.authorities, config.uid);
    return await startIn(profile, config, log, signal);
  } catch (error) {
    await profile.remove();
    throw error;
  }
}

async function startIn(
  profile: Profile,
  config: ChromeConfig,
  log: Log,
  signal: AbortSignal | undefined,
): Promise<Chrome> {
  const child = spawn(...startLine(config, chromeFlags(config, profile.path)), {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    cwd: '/',
    env: {
      HOME: profile.path,
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      TMPDIR: profile.path,
    },
    ...(config.uid === undefined ? {} : { uid: config.uid, gid: config.uid }),
    detached: config.ownGroup,
  });
  const starting = listenWhileStarting(child);
  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(signal ? `killed by ${signal}` : `exit code ${code}`),
    );
  });
  const pipe = new CdpPipe(child.stdio[3] as Writable, child.stdio[4] as Readable);
  let over = false;
  let alive = true;
  void exited.then(() => {
    alive = false;
  });
  let browserPid: number | undefined;
  const kill = () => {
    if (child.pid === undefined || over) return;
    if (config.ownGroup) return killQuietly(-child.pid);
    // Debian's executable is a shell script that waits for the real one: end both.
    for (const pid of alive ? [browserPid, child.pid] : []) if (pid !== undefined) killQuietly(pid);
  };
  const end = async () => {
    (child.stdio[3] as Writable).destroy();
    (child.stdio[4] as Readable).destroy();
    const timer = setTimeout(kill, 2_000);
    await exited;
    clearTimeout(timer);
    kill();
    over = true;
    child.stderr?.destroy();
    await profile.remove();
  };
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= end();
    return ending;
  };
  const endedEarly = exited.then(how => `${config.executable} ended at its start: ${how}`);
  const why = await firstAnswer(hello(pipe).then(refuseFullBrowser), endedEarly, config, signal);
  if (typeof why === 'string') {
    const error = explain(starting.text(), why);
    kill();
    await close();
    throw error;
  }
  starting.stop();
  const { pid, version } = why;
  browserPid = pid;
  log.info(
    { pid, version, sandbox: config.sandbox, ignoresNetworkChanges: hasOwnFilter(pid) },
    'chrome is up',
  );
  return { pid, version, pipe, ...watchProcesses(pid), exited, close, kill };
}

/** The first answer of Chrome, or why there is none. */
async function firstAnswer<T>(
  answer: Promise<T>,
  ended: Promise<string>,
  config: ChromeConfig,
  signal: AbortSignal | undefined,
) {
  const late = Promise.withResolvers<string>();
  const { executable, startTimeoutMs } = config;
  const timer = setTimeout(
    late.resolve,
    startTimeoutMs,
    `${executable} did not answer within ${startTimeoutMs / 1_000} s of its start`,
  );
  const onAbort = () => late.resolve(`the worker stopped before ${executable} was up`);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([answer.catch(() => ended), ended, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
