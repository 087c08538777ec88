// @proves extra_http_headers, auth, auth.username, auth.password

import { expect } from 'chai';
import { requestError, shown } from '../../../support/request-error.ts';

const REJECTED: [name: string, says: string][] = [
  ['Cookie', 'is not allowed; use `cookies`'],
  ['cookie', 'use `cookies`'],
  ['COOKIE', 'use `cookies`'],
  ['Cookie2', 'use `cookies`'],
  ['set-COOKIE', 'use `cookies`'],
  ['Host', 'the browser sets it from the URL'],
  ['host', 'the browser sets it from the URL'],
  ['Content-Length', 'the browser sets it from the body'],
  ['content-length', 'the browser sets it from the body'],
  ['Expect', 'browsers do not support it'],
  ['eXPECT', 'browsers do not support it'],
  ...[
    'Connection',
    'Keep-Alive',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'connection',
    'keep-alive',
    'te',
    'upgrade',
  ].map((name): [string, string] => [name, 'it is a hop-by-hop header']),
  ...['Proxy-Authorization', 'proxy-connection', 'PROXY-X', 'Proxy-'].map(
    (name): [string, string] => [
      name,
      'is not allowed; headers that begin with Proxy- are for proxies',
    ],
  ),
  ...[
    '',
    ' ',
    'a b',
    'X-A:',
    'X:A',
    'é',
    'X-A ',
    'a(b)',
    'a/b',
    'a@b',
    'a"b',
    'a{',
    '[a]',
    'a,b',
    'a;b',
    'a=b',
    'a?b',
    'a\\b',
  ].map((name): [string, string] => [name, 'must be a header name of letters, digits and']),
  ['x'.repeat(257), 'must have a name of at most 256 characters, not 257'],
];

const VALUES: [value: unknown, says: string][] = [
  [null, 'must be a header value string, not null'],
  [5, 'not a number'],
  [true, 'not a boolean'],
  [['a', 'b'], 'not an array'],
  [{}, 'not an object'],
  ['a\nb', 'must not contain control characters'],
  ['a\r\nX-Evil: 1', 'must not contain control characters'],
  ['a\u0000', 'must not contain control characters'],
  ['\u001f', 'must not contain control characters'],
  ['\u007f', 'must not contain control characters'],
  ['\u0085', 'must not contain control characters'],
  ['\u0100', 'must not contain characters above U+00FF'],
  ['日本', 'must not contain characters above U+00FF'],
  ['😀', 'must not contain characters above U+00FF'],
  ['\ud800', 'must not contain characters above U+00FF'],
  ['x'.repeat(8_193), 'must be at most 8192 characters long, not 8193'],
];

describe('invalid extra_http_headers', () => {
  for (const [name, says] of REJECTED) {
    it(`rejects the header ${shown(name)} by name`, () => {
      const error = requestError({
        url: 'https://example.com/',
        extra_http_headers: { 'X-Good': '1', [name]: 'x' },
      });
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(/^`extra_http_headers\./)
        .and.to.contain(says);
      if (name.length < 40 && !/["\\]/.test(name))
        expect(error.message).to.contain(`\`extra_http_headers.${name}\``);
    });
  }

  it('escapes control characters and backticks in a name', () => {
    expect(requestError({ html: 'x', extra_http_headers: { 'a`\r\nb': 'x' } }).message).to.match(
      /^`extra_http_headers\.a'\\r\\nb` must be a header name/,
    );
  });

  for (const [value, says] of VALUES) {
    it(`rejects the value ${shown(value)} by the header's name`, () => {
      const error = requestError({ html: 'x', extra_http_headers: { 'X-A': value } });
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(/^`extra_http_headers\.X-A` must /)
        .and.to.contain(says);
    });
  }

  for (const [headers, says] of [
    [null, 'not null'],
    [[], 'not an array'],
    ['X-A: 1', 'not a string'],
    [1, 'not a number'],
  ] as const) {
    it(`rejects ${shown(headers)} as the headers`, () => {
      expect(requestError({ html: 'x', extra_http_headers: headers }).message).to.equal(
        `\`extra_http_headers\` must be an object of header names and values, ${says}.`,
      );
    });
  }

  it('rejects duplicate names that differ only in case', () => {
    expect(
      requestError({ html: 'x', extra_http_headers: { 'X-A': '1', 'x-a': '2' } }).message,
    ).to.equal('`extra_http_headers.x-a` is a duplicate of "X-A"; remove one of them.');
  });

  it('rejects more than 64 headers without validating them', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x ${index}`, 5]));
    expect(requestError({ html: 'x', extra_http_headers: many(65) }).message).to.equal(
      '`extra_http_headers` must have at most 64 headers, not 65.',
    );
    expect(requestError({ html: 'x', extra_http_headers: many(500_000) }).message).to.contain(
      'not 500000',
    );
  });

  it('rejects headers that are too long for the head of a request', () => {
    const headers = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`X-${index}`, 'v'.repeat(8_000)]),
    );
    expect(requestError({ html: 'x', extra_http_headers: headers }).message).to.match(
      /^`extra_http_headers` must have at most 65536 characters in total/,
    );
  });

  it('rejects the name __proto__', () => {
    expect(
      requestError(JSON.parse('{"html":"x","extra_http_headers":{"__proto__":"1"}}')).message,
    ).to.equal('`extra_http_headers` must not have a header named `__proto__`.');
  });

  it('never quotes a value', () => {
    for (const value of ['hunter2\n', 'hunter2あ', 'hunter2'.repeat(2_000)]) {
      expect(
        requestError({ html: 'x', extra_http_headers: { Authorization: value } }).message,
      ).not.to.contain('hunter2');
    }
  });
});

describe('invalid auth', () => {
  const PAIRS: [auth: unknown, member: string, says: string][] = [
    [null, '', 'must be an object with `username` and `password`, not null'],
    ['a:b', '', 'not a string'],
    [[], '', 'not an array'],
    [7, '', 'not a number'],
    [{}, '.username', 'is required'],
    [{ username: 'a' }, '.password', 'is required and must be a string'],
    [{ password: 'a' }, '.username', 'is required and must be a string'],
    [{ username: null, password: 'a' }, '.username', 'must be a string, not null'],
    [{ username: 5, password: 'a' }, '.username', 'not a number'],
    [{ username: 'a', password: null }, '.password', 'must be a string, not null'],
    [{ username: 'a', password: 5 }, '.password', 'not a number'],
    [
      { username: 'a:b', password: 'a' },
      '.username',
      'must not contain a colon or control characters',
    ],
    [{ username: ':', password: 'a' }, '.username', 'must not contain a colon'],
    [{ username: 'a\nb', password: 'a' }, '.username', 'control characters'],
    [{ username: 'a\u0000', password: 'a' }, '.username', 'control characters'],
    [{ username: 'a\u0085', password: 'a' }, '.username', 'control characters'],
    [{ username: '\ud800', password: 'a' }, '.username', 'must be valid Unicode'],
    [{ username: 'a', password: 'a\rb' }, '.password', 'must not contain control characters'],
    [{ username: 'a', password: 'a\u007f' }, '.password', 'must not contain control characters'],
    [{ username: 'a', password: '\udc00' }, '.password', 'must be valid Unicode'],
    [
      { username: 'a'.repeat(4_097), password: 'a' },
      '.username',
      'must be at most 4096 characters long, not 4097',
    ],
    [
      { username: 'a', password: 'a'.repeat(4_097) },
      '.password',
      'must be at most 4096 characters long, not 4097',
    ],
    [{ username: 'a', password: 'b', user: 'c' }, '.user', 'is not a valid field'],
    [
      { usrname: 'a', password: 'b', username: 'c' },
      '.usrname',
      'is not a valid field. Did you mean `auth.username`?',
    ],
  ];

  for (const [auth, member, says] of PAIRS) {
    it(`rejects ${shown(auth)}`, () => {
      const error = requestError({ url: 'https://example.com/', auth });
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(new RegExp(`\`auth${member}\` (must|is) `))
        .and.to.contain(says);
    });
  }

  it('never quotes a user name or a password', () => {
    for (const auth of [
      { username: 'hunter2:', password: 'x' },
      { username: 'x', password: 'hunter2\n' },
      { username: 'x', password: 'hunter2'.repeat(1_000) },
    ]) {
      expect(requestError({ url: 'https://example.com/', auth }).message).not.to.contain('hunter2');
    }
  });
});

describe('auth and Authorization with other fields', () => {
  const auth = { username: 'a', password: 'b' };

  it('are rejected with html', () => {
    expect(requestError({ html: 'x', auth }).message).to.match(
      /^`auth` cannot be combined with `html`/,
    );
  });

  for (const name of ['Authorization', 'authorization', 'AUTHORIZATION']) {
    it(`are rejected together: auth and ${name}`, () => {
      const { message } = requestError({
        url: 'https://example.com/',
        auth,
        extra_http_headers: { [name]: 'Bearer x' },
      });
      expect(message).to.equal(
        `\`auth\` cannot be combined with \`extra_http_headers.${name}\`. Remove one of them.`,
      );
    });

    it(`are rejected with html: the header ${name}`, () => {
      const { message } = requestError({ html: 'x', extra_http_headers: { [name]: 'Bearer x' } });
      expect(message).to.match(
        new RegExp(`^\`extra_http_headers\\.${name}\` cannot be combined with \`html\``),
      );
    });
  }
});
