import { expect } from 'chai';
import { nextPath, withNext } from '../../../../../api/console/html/next-path.ts';

describe('the path after a sign-in', () => {
  const GOOD = [
    '/app',
    '/app/keys',
    '/app/renders?status=error&key=a%2Fb',
    '/app/renders/01a2-b3',
    '/app?x=1',
    '/app/invitation/accept',
  ];
  for (const path of GOOD) it(`goes on to ${path}`, () => expect(nextPath(path)).to.equal(path));

  const BAD = [
    undefined,
    ['/app/keys', '/app/team'],
    '',
    'app/keys',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '/app//evil.example',
    '/app/\\evil.example',
    '/app\\..\\..\\evil',
    'https://evil.example/app/',
    'javascript:alert(1)',
    '/application',
    '/app/../docs',
    '/app/%2e%2e/docs',
    '/app/.%2e//evil.example',
    '/app/\t/evil.example',
    '/app/\n/evil.example',
    ' /app/keys',
    '/app/keys\r\nSet-Cookie: a=b',
    '/app/keys?a=\u0000',
    '/app/sign-in',
    '/app/sign-in/code',
    '/app/setup',
    `/app/${'a'.repeat(2_000)}`,
  ];
  for (const path of BAD)
    it(`is not ${JSON.stringify(path)?.slice(0, 60)}`, () =>
      expect(nextPath(path)).to.equal('/app'));

  it('drops a fragment', () => expect(nextPath('/app/keys#x')).to.equal('/app/keys'));

  it('stays within this site and /app for random texts', () => {
    const pieces = [
      '/',
      '\\',
      '.',
      '..',
      '%2e',
      '%2f',
      '%5c',
      ':',
      '@',
      '?',
      '#',
      'app',
      'evil.example',
      '\t',
      '//',
      'http:',
      ' ',
    ];
    let seed = 7;
    const any = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return pieces[(seed >> 8) % pieces.length]!;
    };
    for (let round = 0; round < 20_000; round += 1) {
      const text = `/app${Array.from({ length: 1 + (round % 7) }, any).join('')}`;
      const url = new URL(nextPath(text), 'https://press.example/app/sign-in');
      expect(url.origin, text).to.equal('https://press.example');
      expect(url.pathname, text).to.match(/^\/app(\/|$)/);
    }
  });

  it('is omitted from the query when it is the default', () => {
    expect(withNext('/app/sign-in', '/app')).to.equal('/app/sign-in');
    expect(withNext('/app/sign-in', '/app/keys?a=b')).to.equal(
      '/app/sign-in?next=%2Fapp%2Fkeys%3Fa%3Db',
    );
    expect(withNext('/app/sign-in/code', '/app/keys', 'recovery')).to.equal(
      '/app/sign-in/code?recovery&next=%2Fapp%2Fkeys',
    );
  });
});
