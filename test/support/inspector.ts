// The command line of the MCP Inspector in the versions of inspector/package-lock.json. Installed
// once into the cache folder and run with a separate home folder.
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

const fileOf = (file: string) => fileURLToPath(new URL(`inspector/${file}`, import.meta.url));

/** Returns the path of the program. Throws an Error with the reason when it cannot be installed. */
export async function inspectorProgram(): Promise<string> {
  const cache = cacheFolder(process.env);
  const lock = createHash('sha256').update(await readFile(fileOf('package-lock.json')));
  const name = `inspector-tests-${process.platform}-${process.arch}-${lock.digest('hex').slice(0, 16)}`;
  if (!existsSync(join(cache, name)))
    await installOnce(cache, name, async folder => {
      for (const file of FILES) await copyFile(fileOf(file), join(folder, file));
      const npm = await runCommand('npm', ['ci', '--prefix', folder, ...OPTIONS], {
        timeoutMs: INSTALL_MS,
        cwd: folder,
      });
      if (!npm.ok) throw new Error(`npm could not install the Inspector: ${npm.why}`);
    });
  return join(cache, name, PROGRAM);
}

export interface Inspected {
  /**
   * 0: success, 3: authorization required, 5: the tool returned an error, 6: the tool is not
   * compatible with other clients.
   */
  code: number;
  /** The lines on stderr without the Inspector's own log lines. */
  errorLines: string[];
  /** The result of the server. Throws when there is none. */
  result<T>(): T;
}

export interface Inspector {
  /**
   * Runs the Inspector until it exits. `onAuthorize` opens the printed authorization URL; when it
   * fails, the run ends.
   */
  run(args: string[], onAuthorize?: (url: string) => Promise<void>): Promise<Inspected>;
}

/** `home`: the folder in which the Inspector stores tokens and other files. */
export function inspector(program: string, home: string): Inspector {
  const { PATH, PRESSROOM_TEST_RUN } = process.env;
  const env: NodeJS.ProcessEnv = {
    PATH,
    PRESSROOM_TEST_RUN,
    HOME: home,
    TMPDIR: home,
    MCP_STORAGE_DIR: join(home, 'storage'),
    MCP_INSPECTOR_SECRET_STORE: 'file',
    // The test opens the printed URL itself; BROWSER=true starts a program that does nothing.
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
            Promise.reject(new Error('the Inspector requested an unexpected authorization'));
          opened.catch(error => {
            child.kill();
            reject(error);
          });
        });
        child.once('error', reject);
        child.once('close', code => {
          const text = Buffer.concat(stdout).toString();
          const errorLines = stderr.filter(
            line => line !== '' && !line.startsWith('[mcp-inspector] '),
          );
          resolve({
            code: code ?? -1,
            errorLines,
            result: () => (JSON.parse(text) as { result: never }).result,
          });
        });
      }),
  };
}
