// @proves wrong-types, css, javascript, lazy_load_images, metadata, metadata.title
// @proves metadata.author, metadata.subject, metadata.keywords, sandbox, ssrf_blocked
// @proves filename, reference, finish_animations

import { expect } from 'chai';
import { requestError, shown } from '../../../support/request-error.ts';

/** A field, an invalid value, and part of the message. */
type Row = [field: string, value: unknown, says: string];

const ADDITIONS: Row[] = ['css', 'javascript'].flatMap((field): Row[] => [
  [field, null, 'not null'],
  [field, 5, 'not a number'],
  [field, true, 'not a boolean'],
  [field, ['x'], 'not an array'],
  [field, {}, 'not an object'],
  [field, '', 'not blank'],
  [field, ' \n\t', 'not blank'],
  [field, '\u3000\ufeff', 'not blank'],
  [
    field,
    'x'.repeat(262_145),
    'must be at most 262144 characters long, not 262145; host it at a public URL',
  ],
  [field, '\u0001'.repeat(140_000), 'must be at most 786432 bytes as a JSON string, not 840002'],
  [field, '😀'.repeat(262_144), 'must be at most 786432 bytes as a JSON string'],
  [field, `https://example.com/${'a'.repeat(8_192)}`, 'must be at most 8192 bytes long, not 8212'],
  [field, 'https://me:secret@example.com/a', 'must not contain a user name or a password'],
  [field, ' HTTPS://me@example.com/a\n', 'must not contain a user name or a password'],
  [field, 'https://exa<mple.com/a', 'must be a valid URL'],
  [field, 'http://', 'must be a valid URL'],
  [
    field,
    'http://example.com\\a',
    'must not contain white space, control characters or backslashes',
  ],
  [
    field,
    'http://example.com/\u0000',
    'must not contain white space, control characters or backslashes',
  ],
  [field, 'http://example.com:22/a', 'must use one of the ports 80, 443, 8080, 8443, not 22'],
  [field, 'https://example.com:9443/a', 'must use one of the ports 80, 443, 8080, 8443, not 9443'],
]);

const SWITCHES: Row[] = [
  'lazy_load_images',
  'finish_animations',
  'fail_on_resource_error',
  'sandbox',
].flatMap((field): Row[] => [
  [field, null, 'must be true or false, not null'],
  [field, 'true', 'must be true or false, not a string'],
  [field, '', 'not a string'],
  [field, 1, 'must be true or false, not a number'],
  [field, 0, 'not a number'],
  [field, [], 'not an array'],
  [field, {}, 'not an object'],
]);

const NAMES: Row[] = [
  ...['filename', 'reference'].flatMap((field): Row[] => [
    [field, null, 'must be a'],
    [field, 5, 'not a number'],
    [field, '', 'not '],
    [field, ' \u3000', 'blank'],
    [field, 'a\nb', 'must not contain'],
    [field, 'a\u0085b', 'must not contain'],
  ]),
  ['filename', 'a/b.pdf', 'must not contain `/`, `\\` or control characters'],
  ['filename', 'a\\b.pdf', 'must not contain `/`, `\\` or control characters'],
  ['filename', 'x'.repeat(81), 'must be at most 80 characters long, not 81'],
  ['reference', `😀${'x'.repeat(128)}`, 'must be at most 128 characters long, not 129'],
];

const METADATA: Row[] = [
  [
    'metadata',
    null,
    'must be an object with `title`, `author`, `subject` and `keywords`, not null',
  ],
  ['metadata', 'Invoice', 'not a string'],
  ['metadata', ['Invoice'], 'not an array'],
  ['metadata', 4, 'not a number'],
  ['metadata.titel', { titel: 'x' }, 'is not a valid field. Did you mean `metadata.title`?'],
  ['metadata.Author', { Author: 'x' }, 'is not a valid field. Did you mean `metadata.author`?'],
  ['metadata.keyword', { keyword: 'x' }, 'is not a valid field. Did you mean `metadata.keywords`?'],
  [
    'metadata.producer',
    { producer: 'x' },
    'is not a valid field. See /docs for the list of fields',
  ],
  ...['title', 'author', 'subject', 'keywords'].flatMap((member): Row[] =>
    (
      [
        [null, 'must be a string, not null'],
        [5, 'not a number'],
        [['a'], 'not an array'],
        [{}, 'not an object'],
        [true, 'not a boolean'],
        ['\u0000', 'must not contain control characters other than line breaks and tabs'],
        ['a\u000bb', 'must not contain control characters other than line breaks and tabs'],
        ['\u007f', 'must not contain control characters other than line breaks and tabs'],
        ['\u0090', 'must not contain control characters other than line breaks and tabs'],
        ['\ud83d', 'must be valid Unicode without lone surrogates'],
        ['a\udc00b', 'must be valid Unicode without lone surrogates'],
        ['x'.repeat(2_049), 'must be at most 2048 bytes of UTF-8, not 2049'],
        ['é'.repeat(1_025), 'must be at most 2048 bytes of UTF-8, not 2050'],
        ['日'.repeat(683), 'not 2049'],
        ['😀'.repeat(513), 'not 2052'],
      ] as const
    ).map(([value, says]): Row => [`metadata.${member}`, { [member]: value }, says]),
  ),
];

describe('invalid additions, booleans and metadata', () => {
  for (const [field, value, says] of [...ADDITIONS, ...SWITCHES, ...NAMES, ...METADATA]) {
    it(`rejects ${shown(value)} as ${field}`, () => {
      const error = requestError({ html: 'x', [field.split('.')[0]!]: value });
      expect(error.code).to.equal('validation_error');
      expect(error.message)
        .to.match(new RegExp(`^\`${field}\` (must|is not) `))
        .and.to.contain(says);
    });
  }
});

describe('URLs in css and javascript', () => {
  for (const field of ['css', 'javascript']) {
    for (const address of [
      'http://127.0.0.1/a',
      ' https://localhost/a ',
      'HTTP://169.254.169.254/',
      'http://[::1]/a',
      'http://10.0.0.1:9222/',
    ]) {
      it(`are blocked when they are private: ${field} ${address.trim()}`, () => {
        const error = requestError({ html: 'x', [field]: address });
        expect(error).to.include({ code: 'ssrf_blocked', status: 422 });
        expect(error.message).to.equal(
          `\`${field}\` points to an address that is not public. Use a public URL, or send the text inline.`,
        );
      });
    }
  }

  it('report an invalid port before a blocked address', () => {
    const error = requestError({
      url: 'http://10.0.0.1/',
      css: 'http://example.com:22/',
      javascript: 'http://example.com:23/',
    });
    expect(error.code).to.equal('validation_error');
    expect(error.message)
      .to.contain('`css` must use')
      .and.to.contain('`javascript` must use')
      .and.not.to.contain('`url`');
  });

  it('report `url` first when several are blocked', () => {
    expect(requestError({ url: 'http://10.0.0.1/', css: 'http://10.0.0.2/' }).message).to.contain(
      '`url` points to',
    );
  });
});
