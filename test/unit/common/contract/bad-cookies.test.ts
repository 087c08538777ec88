// @proves wrong-types, cookies, cookies.name, cookies.value, cookies.domain, cookies.path
// @proves cookies.secure, cookies.http_only, cookies.same_site

import { expect } from 'chai';
import { requestError, shown } from '../../../support/request-error.ts';

const GOOD = { name: 'a', value: 'b', domain: 'example.com' };

/** The difference to a valid cookie, the member in the message, and part of the message. */
type Row = [differs: Record<string, unknown>, member: string, says: string];

const WRONG_TYPES: Row[] = ['name', 'value', 'domain'].flatMap((member): Row[] => [
  [{ [member]: undefined }, member, 'is required and must be'],
  [{ [member]: null }, member, 'string, not null'],
  [{ [member]: 5 }, member, 'not a number'],
  [{ [member]: ['x'] }, member, 'not an array'],
]);

const WRONG_VALUES: Row[] = [
  ['name', '', 'must be a cookie name of letters, digits and !#$%&\'*+-.^_`|~, not ""'],
  ...['a b', ' a', 'a=b', 'a;b', 'a,b', 'a"b', 'a/b', 'a\tb', 'a\n', 'é', '名', 'a:b', '(a)'].map(
    name => ['name', name, 'must be a cookie name of'],
  ),
  ...['a;b', ';', 'a\nb', 'a\rb', 'a\tb', 'a\u0000', 'a\u007f', '\u0085'].map(value => [
    'value',
    value,
    'must not contain control characters or semicolons',
  ]),
  ['value', ' a', 'must not begin or end with a space'],
  ['value', 'a ', 'must not begin or end with a space'],
  ['value', ' ', 'must not begin or end with a space'],
  ['value', '\ud800', 'must be valid Unicode'],
  ['value', 'b'.repeat(4_096), 'must be at most 4096 bytes long together with the name, not 4097'],
  ['value', 'é'.repeat(2_048), 'not 4097'],
  ...[
    '',
    '.',
    '..example.com',
    'a..com',
    'example.com.',
    'example.com:80',
    'https://example.com',
    'example.com/a',
    'exa mple.com',
    'bücher.example',
    '::1',
    '[::1',
    '[::g]',
    '*.example.com',
    'user@example.com',
    'example.com\n',
    'a.1',
    '1.2.3.256',
    `${'a'.repeat(64)}.com`,
  ].map(domain => ['domain', domain, 'without scheme, port and path, not ']),
  ...['1', '0x7f.1', '127.1', '2130706433', '010.0.0.1'].map(domain => [
    'domain',
    domain,
    'with all four numbers of an IPv4 address',
  ]),
  ...['.127.0.0.1', '.10.0.0.1'].map(domain => [
    'domain',
    domain,
    'must not begin with a dot, since an IP address has no subdomains',
  ]),
  [
    'domain',
    `${'a'.repeat(49)}.`.repeat(5).concat('abcd'),
    'must be at most 253 characters long, not 254',
  ],
  ...['', 'a', 'a/b', ' /', '/a b', '/a;b', '/a?b', '/a#b', '/é', '/a\n', '/a\\b', '/"'].map(
    path => ['path', path, 'must be a percent-encoded URL path'],
  ),
  ['path', `/${'a'.repeat(1_024)}`, 'must be at most 1024 characters long, not 1025'],
  ['path', null, 'must be a path string such as `/`, not null'],
  ['path', 5, 'not a number'],
  ...['secure', 'http_only'].flatMap(member => [
    [member, null, 'must be true or false, not null'],
    [member, 'true', 'must be true or false, not a string'],
    [member, 1, 'must be true or false, not a number'],
  ]),
  ...['strict', 'none', 'STRICT', '', 'no_restriction'].map(value => [
    'same_site',
    value,
    `must be \`Strict\`, \`Lax\` or \`None\`, not "${value}"`,
  ]),
  ['same_site', null, 'not null'],
  ['same_site', true, 'not true'],
].map(([member, value, says]) => [{ [member as string]: value }, member as string, says as string]);

const TOGETHER: Row[] = [
  [{ same_site: 'None' }, 'same_site', 'must not be `None` without `secure: true`'],
  [{ same_site: 'None', secure: false }, 'same_site', 'must not be `None` without `secure: true`'],
  ...['__Secure-a', '__secure-a', '__SECURE-'].map(
    (name): Row => [{ name }, 'name', 'must not begin with `__Secure-` without `secure: true`'],
  ),
  [{ name: '__Host-a' }, 'name', 'must not begin with `__Host-` without `secure: true`'],
  [
    { name: '__host-a', secure: true, domain: '.example.com' },
    'name',
    'must not begin with `__Host-` when `domain` begins with a dot',
  ],
  [
    { name: '__Host-a', secure: true, path: '/a' },
    'name',
    'must not begin with `__Host-` when `path` is not `/`',
  ],
  [
    { name: '__Http-a', secure: true },
    'name',
    'must not begin with `__Http-` without `http_only: true`',
  ],
  [
    { name: '__Http-a', http_only: true },
    'name',
    'must not begin with `__Http-` without `secure: true`',
  ],
  [
    { name: '__Host-Http-a', secure: true },
    'name',
    'must not begin with `__Host-Http-` without `http_only: true`',
  ],
  [
    { name: '__HOST-HTTP-a', secure: true, http_only: true, path: '/b' },
    'name',
    'must not begin with `__Host-Http-` when `path` is not `/`',
  ],
];

describe('invalid cookies', () => {
  for (const [differs, member, says] of [...WRONG_TYPES, ...WRONG_VALUES, ...TOGETHER]) {
    it(`rejects a cookie with ${shown(differs)} by its index`, () => {
      const error = requestError({
        html: 'x',
        cookies: [GOOD, JSON.parse(JSON.stringify({ ...GOOD, ...differs }))],
      });
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(new RegExp(`^\`cookies\\.1\\.${member}\` (must |is required)`))
        .and.to.contain(says);
    });
  }

  for (const [list, says] of [
    [null, 'not null'],
    [{}, 'not an object'],
    ['a=b', 'not a string'],
    [1, 'not a number'],
  ] as const) {
    it(`rejects ${shown(list)} as the list`, () => {
      expect(requestError({ html: 'x', cookies: list }).message).to.equal(
        `\`cookies\` must be an array of cookies, ${says}.`,
      );
    });
  }

  for (const entry of [null, 'a=b', 5, ['a', 'b']]) {
    it(`rejects ${shown(entry)} in the list`, () => {
      expect(requestError({ html: 'x', cookies: [entry] }).message).to.match(
        /^`cookies\.0` must be an object with `name`, `value` and `domain`, not /,
      );
    });
  }

  for (const [typed, meant] of [
    ['httpOnly', 'http_only'],
    ['sameSite', 'same_site'],
    ['same_sit', 'same_site'],
    ['Domain', 'domain'],
    ['expires'],
    ['url'],
  ]) {
    it(`rejects cookies.2.${typed}${meant ? ` and suggests cookies.2.${meant}` : ''}`, () => {
      const { message } = requestError({
        html: 'x',
        cookies: [GOOD, GOOD, { ...GOOD, [typed!]: 'Lax' }],
      });
      expect(message).to.equal(
        `\`cookies.2.${typed}\` is not a valid field${meant ? `. Did you mean \`cookies.2.${meant}\`?` : '. See /docs for the list of fields.'}`,
      );
    });
  }

  it('suggests a name with the index of the cookie', () => {
    const cookies = Array.from({ length: 124 }, (_, index) =>
      index === 123 ? { ...GOOD, httpOnly: true } : GOOD,
    );
    expect(requestError({ html: 'x', cookies }).message).to.contain(
      'Did you mean `cookies.123.http_only`?',
    );
  });

  it('rejects more cookies than browsers keep per site', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ ...GOOD, name: `n${index}` }));
    expect(requestError({ html: 'x', cookies: many(181) }).message).to.equal(
      '`cookies` must have at most 180 cookies, not 181; browsers keep no more per site.',
    );
  });

  it('rejects a list that is too long for the head of a request', () => {
    const cookies = Array.from({ length: 80 }, (_, index) => ({
      ...GOOD,
      name: `n${index}`,
      value: 'v'.repeat(4_000),
    }));
    expect(requestError({ html: 'x', cookies }).message).to.match(
      /^`cookies` must have at most 65536 bytes in total, not 32\d{4}\.$/,
    );
  });

  it('counts bytes, not characters', () => {
    const cookies = Array.from({ length: 20 }, (_, index) => ({
      ...GOOD,
      name: `n${index}`,
      value: '日'.repeat(1_300),
    }));
    expect(requestError({ html: 'x', cookies }).message).to.match(
      /^`cookies` must have at most 65536 bytes in total, not 78\d{3}\.$/,
    );
  });

  it('does not validate the items of a list that is too long', () => {
    expect(
      requestError({ html: 'x', cookies: Array.from({ length: 3_000_000 }, () => null) }).message,
    ).to.contain('not 3000000');
  });

  it('never quotes a value', () => {
    for (const value of ['hunter2;', ' hunter2', 'hunter2\n', 'hunter2'.repeat(1_000)]) {
      expect(requestError({ html: 'x', cookies: [{ ...GOOD, value }] }).message).not.to.contain(
        'hunter2',
      );
    }
  });
});
