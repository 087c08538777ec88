// One Chrome: starts headless-shell behind a pipe, with its sandbox on and as a user that is not root, and ends it. Owns flags and the profile's folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Log } from '../common/log.ts';
import { type CdpPipe, createCdpPipe } from './cdp-pipe.ts';

export interface ChromeConfig {
  executable: string;
  sandbox: boolean;
  /** The user Chrome runs as; only root can and must change it. */
  uid: number | undefined;
  /** Upper bound of a renderer's JavaScript heap. */
  heapMiB: number;
  startTimeoutMs: number;
}

export interface Chrome {
  readonly pid: number;
  readonly version: string;
  readonly pipe: CdpPipe;
  /** Settles when the process is gone, however it went. */
  readonly exited: Promise<string>;
  /** Ends it (its pipe first, SIGKILL after 2 s) and removes its profile. */
  close(): Promise<void>;
  kill(): void;
}

/** Thrown when Chrome cannot start with its sandbox: the operator must decide, it is never switched off quietly. */
export class NoSandbox extends Error {
  override name = 'NoSandbox';
}

const PROFILES = 'pressroom-chrome-';

/**
 * Chrome itself reaches no network: every context has a proxy of its own, everything else is pointed at a port where nobody listens, and names are not resolved here.
 * WebRTC would send UDP past the proxy; only this policy stops it (seen on Chromium 156).
 */
const flags = (config: ChromeConfig, profile: string) => [
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
];

/** Removes the profiles of Chromes whose worker was killed. A profile's name carries the worker's pid. */
export async function sweepProfiles(folder = tmpdir()): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = name.startsWith(PROFILES) ? /^\d+(?=-)/.exec(name.slice(PROFILES.length))?.[0] : undefined;
    if (!pid || Number(pid) === process.pid) continue;
    try {
      process.kill(Number(pid), 0);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Keeps the last of what Chrome says until it is up, for the error message; afterwards it is dropped, since pages can write there. */
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
  /No usable sandbox|Failed to move to new namespace|Running as root without --no-sandbox|setuid sandbox/i.test(said)
    ? new NoSandbox(
        'Chrome cannot use its sandbox here. Allow user namespaces to this container or user (seccomp, sysctl kernel.unprivileged_userns_clone or kernel.apparmor_restrict_unprivileged_userns), ' +
          'install the set-uid helper (Debian: chromium-sandbox), or set PRESSROOM_CHROME_SANDBOX=off and accept that a page which breaks out of its renderer owns the worker.',
      )
    : new Error(`Chrome did not start: ${why}${said ? `; it said: ${said.trim().split('\n').slice(-3).join(' | ')}` : ''}`);

/** Signals a process that may be gone already. */
export function killQuietly(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function hello(pipe: CdpPipe): Promise<{ version: string; pid: number }> {
  const { product } = await pipe.command<{ product: string }>('Browser.getVersion');
  const { processInfo } = await pipe.command<{ processInfo: { type: string; id: number }[] }>('SystemInfo.getProcessInfo');
  return { version: product, pid: processInfo.find(({ type }) => type === 'browser')!.id };
}

/** Starts Chrome and waits until it answers. Throws NoSandbox, or an Error with the last that Chrome said. */
export async function launchChrome(config: ChromeConfig, log: Log): Promise<Chrome> {
  const profile = await mkdtemp(join(tmpdir(), `${PROFILES}${process.pid}-`));
  const removeProfile = () => rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => {});
  if (config.uid !== undefined) await chown(profile, config.uid, config.uid);
  const child = spawn(config.executable, flags(config, profile), {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    cwd: '/',
    env: { HOME: profile, PATH: process.env.PATH, LANG: 'C.UTF-8', TZ: 'UTC', TMPDIR: profile },
    ...(config.uid === undefined ? {} : { uid: config.uid, gid: config.uid }),
  });
  const starting = listenWhileStarting(child);
  const exited = new Promise<string>(resolve => {
    child.once('error', error => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `exit code ${code}`));
  });
  const pipe = createCdpPipe(child.stdio[3] as Writable, child.stdio[4] as Readable);
  let alive = true;
  void exited.then(() => {
    alive = false;
  });
  let browserPid: number | undefined;
  const kill = () => {
    // Debian's executable is a shell script that waits for the real one: end both.
    for (const pid of alive ? [browserPid, child.pid] : []) if (pid !== undefined) killQuietly(pid);
  };
  const close = async () => {
    (child.stdio[3] as Writable).destroy();
    (child.stdio[4] as Readable).destroy();
    const timer = setTimeout(kill, 2_000);
    await exited;
    clearTimeout(timer);
    child.stderr?.destroy();
    await removeProfile();
  };
  const timeout = setTimeout(kill, config.startTimeoutMs);
  const why = await Promise.race([hello(pipe).catch(() => exited), exited]);
  clearTimeout(timeout);
  if (typeof why === 'string') {
    const error = explain(starting.text(), why);
    await close();
    throw error;
  }
  starting.stop();
  const { pid, version } = why;
  browserPid = pid;
  log.info({ pid, version, sandbox: config.sandbox }, 'chrome is up');
  return { pid, version, pipe, exited, close, kill };
}
