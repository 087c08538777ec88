import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { filesOf, lanesOf, measuredSeconds, SUITES } from '../support/suites.ts';

describe('the test suites', () => {
  it('run every test file in exactly one suite', () => {
    const files = SUITES.flatMap(filesOf);
    expect(new Set(files).size).to.equal(files.length);
    expect(files).to.include.members([
      'test/unit/suites.test.ts',
      'test/cluster/crd.test.ts',
      'test/fault/long/cap.test.ts',
      'test/release/release.test.ts',
    ]);
  });

  it('divide files into lanes of about equal duration', () => {
    const files = ['a', 'b', 'c', 'd', 'e'];
    const lanes = lanesOf(files, { a: 30, b: 10, c: 10, d: 5, e: 4 }, 2);
    expect(lanes).to.deep.equal([['a'], ['b', 'c', 'd', 'e']]);
    expect(lanesOf(files, { a: 9, b: 9, c: 5, d: 4, e: 3 }, 3)).to.deep.equal([
      ['a', 'e'],
      ['b'],
      ['c', 'd'],
    ]);
  });

  it('keep the files that use the images of the product in one lane', () => {
    const lanes = lanesOf(filesOf('cluster'), {}, 2);
    const withImages = lanes.filter(lane =>
      lane.some(file => /images|end-to-end|node\.test/.test(file)),
    );
    expect(withImages).to.have.length(1);
  });

  it('have times only for files that exist', () => {
    expect(Object.keys(measuredSeconds()).filter(file => !existsSync(file))).to.deep.equal([]);
  });
});
