// The command line of the MCP Inspector, in the versions of inspector/package-lock.json, installed
// once into the cache folder and run under a home of its own.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cacheFolder, installOnce } from '../../standalone/cache.ts';
import { runCommand } from '../../standalone/run-command.ts';

const FILES = ['package.json', 'package-lock.json', '.npmrc'];
const PROGRAM = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const OPTIONS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  '--fetch-retries=1',
  '--fetch-timeout=60000',
];
const INSTALL_MS = 300_000;
const CALL_MS = 60_000;

const wanted = (file: string) => fileURLToPath(new URL(`inspector/${file}`, import.meta.url));

/** The path of its program. Throws an Error that says why when it cannot be had here. */
export async function inspectorProgram(): Promise<string> {
  const cache = cacheFolder(process.env);
  const lock = createHash('sha256').update(await readFile(wanted('package-lock.json')));
  const name = `inspector-tests-${process.platform}-${process.arch}-${lock.digest('hex').slice(0, 16)}`;
  if (!existsSync(join(cache, name)))
    await installOnce(cache, name, async folder => {
      for (const file of FILES) await copyFile(wanted(file), join(folder, file));
      const npm = await runCommand('npm', ['ci', '--prefix', folder, ...OPTIONS], {
        timeoutMs: INSTALL_MS,
        cwd: folder,
      });
      if (!npm.ok) throw new Error(`npm could not install it: ${npm.why}`);
    });
  return join(cache, name, PROGRAM);
}

export interface Inspected {
  /**
   * 0: good, 3: it needs a sign-in, 5: the tool refused, 6: other clients could not take the tool.
   */
  code: number;
  /** The lines on stderr, without what it says of itself. */
  said: string[];
  /** What the server answered; throws when it did not. */
  result<T>(): T;
}

export interface Inspector {
  /**
   * Runs it to its end. `onAuthorize` opens the address that it asks its person to open; when that
   * fails, the run ends.
   */
  run(args: string[], onAuthorize?: (url: string) => Promise<void>): Promise<Inspected>;
}

/** `home`: where it keeps tokens and whatever else it writes. */
export function inspector(program: string, home: string): Inspector {
  const { PATH, PRESSROOM_TEST_RUN } = process.env;
  const env: NodeJS.ProcessEnv = {
    PATH,
    PRESSROOM_TEST_RUN,
    HOME: home,
    TMPDIR: home,
    MCP_STORAGE_DIR: join(home, 'storage'),
    MCP_INSPECTOR_SECRET_STORE: 'file',
    // Nobody sits at a terminal, but there is a person with a browser: the test opens what it
    // prints, and what it would start itself does nothing.
    MCP_AUTO_OPEN_ENABLED: 'true',
    BROWSER: 'true',
  };
  return {
    run: (args, onAuthorize) =>
      new Promise((resolve, reject) => {
        const child = spawn(process.execPath, [program, '--cli', ...args, '--format', 'json'], {
          env,
          cwd: home,
          stdio: ['ignore', 'pipe', 'pipe'],
          timeout: CALL_MS,
        });
        const stdout: Buffer[] = [];
        const stderr: string[] = [];
        child.stdout.on('data', (piece: Buffer) => stdout.push(piece));
        createInterface({ input: child.stderr }).on('line', line => {
          stderr.push(line);
          const url = /^Please navigate to: (\S+)/.exec(line)?.[1];
          if (url === undefined) return;
          const opened =
            onAuthorize?.(url) ??
            Promise.reject(new Error('it asked its person, whom nobody expected to be asked'));
          opened.catch(error => {
            child.kill();
            reject(error);
          });
        });
        child.once('error', reject);
        child.once('close', code => {
          const text = Buffer.concat(stdout).toString();
          const said = stderr.filter(line => line !== '' && !line.startsWith('[mcp-inspector] '));
          resolve({
            code: code ?? -1,
            said,
            result: () => (JSON.parse(text) as { result: never }).result,
          });
        });
      }),
  };
}
