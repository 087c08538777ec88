#!/usr/bin/env node
// The command `pressroom`: the command line in cli/, run with the right Node from any folder. The
// three processes are started directly.
import { launchAndExit } from './launch.mjs';

const PROCESSES = {
  api: 'api/main.ts',
  worker: 'worker/main.ts',
  standalone: 'standalone/main.ts',
};

const args = process.argv.slice(2);
const main =
  args.length === 1 && Object.hasOwn(PROCESSES, args[0]) ? PROCESSES[args[0]] : undefined;
await (main ? launchAndExit(main, []) : launchAndExit('cli/main.ts', args));
