// @proves neighbours
// The worst hostile pages for a few seconds each. test/fault/long runs all of them.
import { hostilePages } from '../support/pages/hostile-pages.ts';
import { hostileSuite } from './harness/hostile-suite.ts';

const WORST = [
  'console flood of small lines',
  'location.hash flood of 2 MB',
  'data URL flood',
  'workers by the hundred',
  'Blobs',
];

describe('a hostile page beside five other accounts', function () {
  this.timeout(120_000);
  hostileSuite({
    pages: WORST.map(name => hostilePages.find(page => page.name === name)!),
    renderTimeoutMs: 15_000,
    ordinarySeconds: 3,
    disconnects: true,
    seconds: 4,
    artifact: 'hostile-neighbours-short',
  });
});
