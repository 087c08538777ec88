// `node standalone/bootstrap.mjs SCRIPT [ARGUMENTS]`, used by the npm scripts. Requires only Node
// 20; launch.mjs does the rest.
import { launchAndExit } from './launch.mjs';

const [script, ...args] = process.argv.slice(2);
if (script) await launchAndExit(script, args);
else {
  process.stderr.write(
    'Usage: node standalone/bootstrap.mjs SCRIPT [ARGUMENTS] (SCRIPT is relative to the root of the repository)\n',
  );
  process.exitCode = 2;
}
