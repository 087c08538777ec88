// All hostile pages given as html, and the worst of them as trial renders.
// HOSTILE_SECONDS: duration of each (default 20).
import { hostilePages } from '../../support/pages/hostile-pages.ts';
import { hostileSuite } from '../harness/hostile-suite.ts';

const TRIAL = ['console flood of small lines', 'Blobs', 'workers by the hundred'];

describe('hostile html beside five other accounts', function () {
  this.timeout(300_000);
  hostileSuite({
    pages: hostilePages,
    byTrial: hostilePages.filter(({ name }) => TRIAL.includes(name)),
    renderTimeoutMs: 10_000,
    ordinarySeconds: 10,
    seconds: Number(process.env.HOSTILE_SECONDS ?? 20),
    artifact: 'hostile-neighbours',
  });
});
