import { expect } from 'chai';
import { headersFor } from '../../../../api/page/interception.ts';
import { exceptionText } from '../../../../api/page/javascript.ts';
import { chromeCookie } from '../../../../api/page/load.ts';
import type { CookieSetting, RenderSettings } from '../../../../api/page/render-settings.ts';

describe('the headers of an intercepted request', () => {
  const source: RenderSettings['source'] = {
    kind: 'url',
    url: 'https://shop.example/a?b',
    raiseForStatus: 'errors',
  };
  const planned = (more: Partial<RenderSettings>) =>
    ({ source, headers: {}, ...more }) as RenderSettings;
  const at = (url: string, headers: Record<string, string> = { Accept: '*/*' }) => ({
    url,
    headers,
  });

  it('do not change when nothing is added', () => {
    expect(headersFor(planned({ authorization: 'x' }), at('https://other.example/'))).to.equal(
      undefined,
    );
  });

  const foreign = [
    'http://shop.example/',
    'https://shop.example:8443/',
    'https://www.shop.example/',
    'https://shop.example.other.example/',
    'https://other.example/?https://shop.example/',
    'https://shop.example@other.example/',
    'data:text/html,https://shop.example/',
    'no address',
  ];
  for (const url of foreign)
    it(`have no Authorization for ${url}`, () => {
      expect(headersFor(planned({ authorization: 'x' }), at(url))).to.equal(undefined);
    });

  it('have Authorization for the page’s origin in any spelling', () => {
    for (const url of [
      'https://shop.example/',
      'https://shop.example:443/x',
      'https://SHOP.example/',
    ])
      expect(headersFor(planned({ authorization: 'x' }), at(url))).to.deep.include({
        name: 'Authorization',
        value: 'x',
      });
  });

  it('keep the page’s own Authorization', () => {
    expect(
      headersFor(
        planned({ authorization: 'x' }),
        at('https://shop.example/', { authorization: 'own' }),
      ),
    ).to.equal(undefined);
  });

  it('contain each name once', () => {
    expect(
      headersFor(
        planned({ headers: { 'user-agent': 'b' } }),
        at('http://a/', { 'User-Agent': 'a', Accept: 'c' }),
      ),
    ).to.deep.equal([
      { name: 'Accept', value: 'c' },
      { name: 'user-agent', value: 'b' },
    ]);
  });

  it('do not change when the page’s own are too long for a command', () => {
    expect(
      headersFor(planned({ headers: { a: 'b' } }), at('http://a/', { x: 'x'.repeat(900_000) })),
    ).to.equal(undefined);
    const many = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`x${at}`, '']));
    expect(headersFor(planned({ headers: { a: 'b' } }), at('http://a/', many))).to.equal(undefined);
  });
});

describe('a cookie for Chrome', () => {
  const cookie: CookieSetting = {
    name: 'a',
    value: '1',
    domain: 'shop.example',
    path: '/',
    secure: false,
    httpOnly: false,
  };
  const taken = (more: Partial<CookieSetting>, kind: RenderSettings['source']['kind'] = 'url') =>
    chromeCookie({ ...cookie, ...more }, kind);

  it('is for one host with a URL, and for subdomains with a domain', () => {
    expect(taken({})).to.include({ url: 'http://shop.example/' }).and.not.have.property('domain');
    expect(taken({ secure: true })).to.include({ url: 'https://shop.example/' });
    expect(taken({ domain: '.shop.example' }))
      .to.include({ domain: '.shop.example' })
      .and.not.have.property('url');
    expect(taken({ domain: '[::1]' })).to.include({ url: 'http://[::1]/' });
  });

  it('is for other sites by default when the document has no site', () => {
    expect(taken({}, 'html')).to.include({
      sameSite: 'None',
      secure: true,
      url: 'https://shop.example/',
    });
    expect(taken({ sameSite: 'Lax' }, 'html')).to.include({ sameSite: 'Lax', secure: false });
    expect(taken({})).to.not.have.property('sameSite');
  });
});

describe('the text of an exception in the page', () => {
  const textOf = (exception: object | undefined, text = 'Uncaught') =>
    exceptionText({ exception, text } as never);

  it('is its first line, or its value, in quotes', () => {
    expect(textOf({ type: 'object', description: 'Error: no\n    at x' })).to.equal('"Error: no"');
    expect(textOf({ type: 'string', value: 'say "no"' })).to.equal('"say \\"no\\""');
    expect(textOf({ type: 'undefined' })).to.equal('"undefined"');
    expect(textOf({ type: 'object', subtype: 'null', value: null })).to.equal('"null"');
    expect(textOf({ type: 'bigint', unserializableValue: '1n', description: '1n' })).to.equal(
      '"1n"',
    );
  });

  it('is Chrome’s own text for a script of another origin', () => {
    expect(textOf(undefined, 'Uncaught TypeError: no')).to.equal('"TypeError: no"');
    expect(textOf(undefined, 'Uncaught (in promise) Error: no')).to.equal('"Error: no"');
  });

  it('is bounded', () => {
    expect(textOf({ type: 'string', value: 'x'.repeat(10_000) }).length).to.be.below(310);
  });
});
