// Entry point of `npm start`: API, worker, Chrome and mongod on this machine.
import { ConfigError } from '../common/config.ts';
import { runUntilSignal } from '../common/lifecycle.ts';
import { createStandalone } from './standalone.ts';

const write = (lines: string) => process.stdout.write(lines);
const notify = (line: string) => write(`${line}\n`);

try {
  const logStream = process.stdout.isTTY
    ? (await import('./terminal-log.ts')).terminalLog(write)
    : undefined;
  const { lifecycle, log, died } = await createStandalone(process.env, notify, logStream);
  await runUntilSignal(log, lifecycle, died);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
