import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runMocha } from '../support/mocha-process.ts';
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

  it('name the file in which a lane ended early', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'suites-'));
    const file = join(folder, 'ends.test.ts');
    writeFileSync(file, "describe('a file', () => it('ends its process', () => process.exit(3)));");
    const { code, numbers } = await runMocha({ chrome: 'none', args: [file], lane: 9 });
    rmSync(folder, { recursive: true });
    expect(code).to.equal(3);
    expect(numbers).to.include({ passed: 0, skipped: 0 });
    expect(numbers?.running?.file).to.match(/ends\.test\.ts$/);
  });
});
