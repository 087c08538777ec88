// Entry point of `npm start`: API, worker, Chrome and mongod on this machine.
import { ConfigError } from '../common/config.ts';
import { runUntilSignal } from '../common/lifecycle.ts';
import { createStandalone } from './standalone.ts';

const notify = (line: string) => process.stdout.write(`${line}\n`);

try {
  const { lifecycle, log, died } = await createStandalone(process.env, notify);
  await runUntilSignal(log, lifecycle, died);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(error instanceof ConfigError ? 2 : 1);
}
