// `npm run build`: the dashboard's page, for an installation that starts its API by itself. `npm
// start` does it when it is needed.
import { buildDashboard } from './dashboard.ts';

await buildDashboard(line => process.stdout.write(`${line}\n`));
