// All hostile pages that need an origin or a server.
// HOSTILE_SECONDS: duration of each (default 20).
import { hostileSites } from '../../support/pages/hostile-sites.ts';
import { hostileSuite } from '../harness/hostile-suite.ts';

describe('hostile pages of a deployment beside five other accounts', function () {
  this.timeout(300_000);
  hostileSuite({
    pages: hostileSites,
    renderTimeoutMs: 10_000,
    ordinarySeconds: 10,
    seconds: Number(process.env.HOSTILE_SECONDS ?? 20),
    artifact: 'hostile-neighbours-sites',
  });
});
