import { expect } from 'chai';
import { shownUrl } from '../../../../api/page/resources.ts';

describe('the URL of a failed request', () => {
  const cases: [what: string, url: string, shown: string][] = [
    ['no query and no fragment', 'https://a.test/b?c=d#e', 'https://a.test/b'],
    ['no credentials', 'https://user:pass@a.test/b', 'https://a.test/b'],
    ['the length of a data URL', 'data:image/png;base64,AAAA', 'data: (26 characters)'],
    ['the length of a blob URL', 'blob:https://a.test/1?x', 'blob: (23 characters)'],
    ['another scheme', 'file:///etc/passwd?x', 'file:///etc/passwd'],
    ['no credentials of a URL that only Chrome accepts', 'http://u:p@a%20b/c?d', 'http://a%20b/c'],
    ['no credentials of any length', `http://u:${'p'.repeat(5_000)}@a%20b/c?d`, 'http://a%20b/c'],
    [
      'no query after a long path',
      `http://a%20b/${'x'.repeat(600)}?d`,
      `http://a%20b/${'x'.repeat(498)}…`,
    ],
    [
      'no credentials inside another scheme',
      'view-source:http://u:p@a.test/b?c',
      'view-source:http://a.test/b',
    ],
  ];
  for (const [what, url, shown] of cases)
    it(`has ${what}`, () => {
      expect(shownUrl(url)).to.equal(shown);
    });

  it('has at most 512 characters and no control characters', () => {
    for (const host of ['a.test', 'a%20b']) {
      const long = shownUrl(`http://${host}/\u202e\u0007${'x'.repeat(9_000)}?y`);
      expect(long).to.have.lengthOf(512).and.match(/…$/).and.not.match(/\p{C}/u);
    }
  });
});
