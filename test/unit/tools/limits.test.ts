// @proves account-shares

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { limitRows } from '../../../tools/limits.ts';
import { proofExists } from '../../support/proofs.ts';

const API = fileURLToPath(new URL('../../../api/', import.meta.url));
/** The calls that create a shared limit, and the files that are built on other shared limits. */
const MAKES_BOUND = /new SharedBound\(|\bcreateByteBudget\(|\bcreateAccountShares\(/;
const BUILT_ON_OTHERS = ['http/byte-budget.ts', 'http/account-shares.ts'];

describe('the table of shared limits', () => {
  for (const { bound, proofs } of limitRows())
    it(`names existing tests for: ${bound}`, () => {
      const all = Object.entries(proofs).flatMap(([file, titles]) =>
        titles.map(title => ({ file, title })),
      );
      expect(all).to.not.deep.equal([]);
      expect(all.filter(({ file, title }) => !proofExists(file, title))).to.deep.equal([]);
    });

  it('contains every shared limit of the API', () => {
    const files = globSync('**/*.ts', { cwd: API }).filter(file =>
      MAKES_BOUND.test(readFileSync(API + file, 'utf8')),
    );
    expect(files).to.include('queue/fair-queue.ts');
    const sources = new Set(limitRows().map(({ source }) => source));
    expect(
      files.filter(file => !sources.has(file) && !BUILT_ON_OTHERS.includes(file)),
    ).to.deep.equal([]);
  });
});
