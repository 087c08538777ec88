// `npm run build`: builds the dashboard for an installation that starts the API on its own. `npm
// start` builds it when needed.
import { buildDashboard } from './dashboard.ts';

await buildDashboard(line => process.stdout.write(`${line}\n`));
