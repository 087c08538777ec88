// One Chrome: starts the headless shell on a pipe, sandboxed and not as root, and ends it with all
// its processes. Owns the command-line flags.
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Log } from '../../common/log.ts';
import { trustCaCertificates } from './ca-certificates.ts';
import { CdpPipe } from './cdp-pipe.ts';
import { hasOwnFilter, startCommand } from './chrome-start.ts';
import { isHeadlessShell } from './find-chrome.ts';
import { type ChromeProcess, processesOf } from './process-usage.ts';
import { isAlive, makeProfile, type Profile } from './profile.ts';

export interface ChromeConfig {
  executable: string;
  sandbox: boolean;
  /** The user that Chrome runs as. Set only when the worker is root. */
  uid: number | undefined;
  /** CA certificates (PEM) that it trusts in addition to the public ones. */
  caCertificates: string | undefined;
  /** Maximum JavaScript heap of a renderer. */
  heapMiB: number;
  startTimeoutMs: number;
  /**
   * Start Chrome in its own process group, so that processes that outlive the browser can be killed
   * as well.
   */
  ownGroup: boolean;
}

export interface Chrome {
  readonly pid: number;
  readonly version: string;
  readonly pipe: CdpPipe;
  /** Its processes, from a listing at most `maxAgeMs` old. */
  processes(maxAgeMs?: number): ChromeProcess[];
  /**
   * False when the network process has died. Chrome starts another one, but pages that are already
   * open stay disconnected.
   */
  connected(): boolean;
  /** Settles with the cause when the browser process has exited. */
  readonly exited: Promise<string>;
  /**
   * Ends it (closes the pipe, SIGKILL after 2 s), then its remaining processes, and removes its
   * profile. A second call waits for the first.
   */
  close(): Promise<void>;
  /** Sends SIGKILL to all of its processes. */
  kill(): void;
}

/**
 * Thrown when Chrome cannot start with its sandbox. Only the administrator may switch the sandbox
 * off.
 */
export class NoSandbox extends Error {
  override name = 'NoSandbox';
}

/**
 * Disables painting to the screen: the tile memory is smaller than one tile. Frames are still
 * produced, for pages that wait for them; printing and canvases use no tiles.
 */
export const NO_PAINTING = [
  '--force-gpu-mem-available-mb=1',
  '--default-tile-width=1024',
  '--default-tile-height=1024',
];

/**
 * Chrome itself has no network: each context has its own proxy, all other traffic goes to a closed
 * port, and Chrome resolves no names. WebRTC would send UDP past the proxy; only
 * `--force-webrtc-ip-handling-policy` prevents that (Chromium 156).
 */
export const chromeFlags = (
  config: Pick<ChromeConfig, 'sandbox' | 'heapMiB'>,
  profile: string,
): string[] => [
  // Redundant for a headless shell. A full browser would exit without a screen before its version
  // can be read and rejected.
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
  // A popup would have its own renderer, and with it another memory limit.
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
  ...NO_PAINTING,
];

/**
 * Keeps the last output of Chrome until it is up, for the error message. Later output is dropped,
 * since pages can write to it.
 */
function captureStartOutput(child: ChildProcess) {
  let output = '';
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-4_096);
  };
  child.stderr?.on('data', keep);
  return {
    text: () => output,
    stop: () => {
      child.stderr?.off('data', keep);
      child.stderr?.resume();
      output = '';
    },
  };
}

const explain = (output: string, problem: string): Error =>
  /No usable sandbox|Failed to move to new namespace|Running as root without --no-sandbox|s(?:et)?uid sandbox/i.test(
    output,
  )
    ? new NoSandbox(
        'Chrome cannot use its sandbox on this system. Do one of the following: ' +
          'allow user namespaces for this container or user (seccomp profile, sysctl kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns); ' +
          'install the set-uid helper (Debian: chromium-sandbox); ' +
          'or set PRESSROOM_CHROME_SANDBOX=off and accept that a page that exploits its renderer controls the worker.',
      )
    : new Error(
        `${problem}${output ? `. Last output: ${output.trim().split('\n').slice(-3).join(' | ')}` : ''}`,
      );

/** Signals a process, or with a negative number a process group, if it still exists. */
export function killQuietly(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Lists the processes of a browser and watches its network process once it is known. */
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

/** The browser's own process id: the executable of a distribution may be a wrapper script. */
async function readIdentity(pipe: CdpPipe): Promise<{ version: string; pid: number }> {
  const [{ product }, { processInfo }] = await Promise.all([
    pipe.command<{ product: string }>('Browser.getVersion'),
    pipe.command<{ processInfo: { type: string; id: number }[] }>('SystemInfo.getProcessInfo'),
  ]);
  return { version: product, pid: processInfo.find(({ type }) => type === 'browser')!.id };
}

/** Returns an error message instead of the identity of a full browser. */
const rejectFullBrowser = <T extends { version: string }>(identity: T): T | string =>
  isHeadlessShell(identity.version)
    ? identity
    : `This is a full browser (${identity.version}). Its pages can reach private addresses through WebRTC. Use a headless shell (Debian: chromium-headless-shell, elsewhere chrome-headless-shell)`;

/**
 * Starts Chrome and waits until it answers. Throws NoSandbox, or an Error with the cause and
 * Chrome's last output. Aborting `signal` ends the start with an Error.
 */
export async function launchChrome(
  config: ChromeConfig,
  log: Log,
  signal?: AbortSignal,
): Promise<Chrome> {
  const profile = await makeProfile(config.uid);
  try {
    if (config.caCertificates !== undefined)
      await trustCaCertificates(profile.path, config.caCertificates, config.uid);
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
  const child = spawn(...startCommand(config, chromeFlags(config, profile.path)), {
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
  const startOutput = captureStartOutput(child);
  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', (code, signal) =>
      resolve(signal ? `killed by ${signal}` : `exit code ${code}`),
    );
  });
  const pipe = new CdpPipe(child.stdio[3] as Writable, child.stdio[4] as Readable);
  let ended = false;
  let alive = true;
  void exited.then(() => {
    alive = false;
  });
  let browserPid: number | undefined;
  const kill = () => {
    if (child.pid === undefined || ended) return;
    if (config.ownGroup) return killQuietly(-child.pid);
    // Debian's executable is a shell script that waits for the browser: kill both.
    for (const pid of alive ? [browserPid, child.pid] : []) if (pid !== undefined) killQuietly(pid);
  };
  const end = async () => {
    (child.stdio[3] as Writable).destroy();
    (child.stdio[4] as Readable).destroy();
    const timer = setTimeout(kill, 2_000);
    await exited;
    clearTimeout(timer);
    kill();
    ended = true;
    child.stderr?.destroy();
    await profile.remove();
  };
  let ending: Promise<void> | undefined;
  const close = () => {
    ending ??= end();
    return ending;
  };
  const endedEarly = exited.then(how => `${config.executable} exited while starting: ${how}`);
  const identity = readIdentity(pipe).then(rejectFullBrowser);
  const started = await untilStarted(identity, endedEarly, config, signal);
  if (typeof started === 'string') {
    const error = explain(startOutput.text(), started);
    kill();
    await close();
    throw error;
  }
  startOutput.stop();
  const { pid, version } = started;
  browserPid = pid;
  log.info(
    { pid, version, sandbox: config.sandbox, ignoresNetworkChanges: hasOwnFilter(pid) },
    'chrome is up',
  );
  return { pid, version, pipe, ...watchProcesses(pid), exited, close, kill };
}

/** The first answer of Chrome, or the reason why it did not start. */
async function untilStarted<T>(
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
    `${executable} did not respond within ${startTimeoutMs / 1_000} s after its start`,
  );
  const onAbort = () => late.resolve(`The worker stopped before ${executable} was up`);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([answer.catch(() => ended), ended, late.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
