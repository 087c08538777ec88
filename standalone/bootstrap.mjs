// `node standalone/bootstrap.mjs SCRIPT [ARGUMENTS]`: what npm's scripts run. Needs nothing but
// Node 20; the rest is launch.mjs.
import { launchAndExit } from './launch.mjs';

const [script, ...args] = process.argv.slice(2);
if (script) await launchAndExit(script, args);
else {
  process.stderr.write(
    'Usage: node standalone/bootstrap.mjs SCRIPT [ARGUMENTS], SCRIPT as seen from the root of the repository.\n',
  );
  process.exitCode = 2;
}
