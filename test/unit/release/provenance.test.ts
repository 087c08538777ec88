import { expect } from 'chai';
import { withoutCredentials } from '../../../release/provenance.ts';

describe('the source in the provenance of a release', () => {
  for (const [url, expected] of [
    ['https://git.example/pressroom.git', 'https://git.example/pressroom.git'],
    ['https://token@git.example/pressroom.git', 'https://git.example/pressroom.git'],
    ['https://user:pass@word@git.example/pressroom.git', 'https://git.example/pressroom.git'],
    ['git@git.example:pressroom.git', 'git@git.example:pressroom.git'],
    ['https://git.example/@scope/pressroom.git', 'https://git.example/@scope/pressroom.git'],
  ] as const)
    it(`contains no name and password of ${url}`, () => {
      expect(withoutCredentials(url)).to.equal(expected);
    });
});
