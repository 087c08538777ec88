import { expect } from 'chai';
import { parseJson } from '../../../../api/http/body.ts';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import { ApiError } from '../../../../common/contract/errors.ts';
import {
  parseRenderRequest,
  type RenderRequest,
} from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';

const read = (text: string): RenderRequest =>
  parseRenderRequest(parseJson(Buffer.from(text)), PUBLIC);
const rejected = (text: string): ApiError => {
  try {
    read(text);
  } catch (error) {
    expect(error).to.be.instanceOf(ApiError);
    return error as ApiError;
  }
  return expect.fail(`${text} was accepted`);
};

/**
 * Names that every object has without anybody having given them, and those by which its prototype
 * is changed.
 */
const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  '__lookupSetter__',
];
const VALUES = [
  '{"polluted":true}',
  '"x"',
  '1',
  'null',
  'true',
  '[]',
  '{"html":"<p>x</p>"}',
  '{"constructor":{"prototype":{"polluted":true}}}',
];

/** A valid request with one more member, and the name of its position. */
const PLACES: [place: string, around: (member: string) => string][] = [
  ['', member => `{"html":"x",${member}}`],
  ['margin.', member => `{"html":"x","margin":{"top":"1in",${member}}}`],
  ['header.', member => `{"html":"x","header":{"html":"x",${member}}}`],
  ['footer.', member => `{"html":"x","footer":{${member}}}`],
  ['metadata.', member => `{"html":"x","metadata":{"title":"x",${member}}}`],
  [
    'auth.',
    member => `{"url":"https://example.com/","auth":{"username":"a","password":"b",${member}}}`,
  ],
  [
    'cookies.0.',
    member => `{"html":"x","cookies":[{"name":"a","value":"b","domain":"example.com",${member}}]}`,
  ],
];

const isClean = () => {
  expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  expect(Object.keys(Object.prototype)).to.deep.equal([]);
};

describe('a member with the name of a built-in property', () => {
  afterEach(isClean);

  for (const [place, around] of PLACES) {
    for (const key of KEYS) {
      it(`is rejected by name: ${place}${key}`, () => {
        for (const value of VALUES) {
          const error = rejected(around(`"${key}":${value}`));
          expect(error.code).to.equal('validation_error');
          expect(error.message).to.equal(
            `\`${place}${key}\` is not a valid field. See /docs for the list of fields.`,
          );
        }
      });
    }
  }

  it('does not break the error message, nor does a very long value', () => {
    for (const value of [
      '{"toString":1}',
      '{"toString":1,"valueOf":null}',
      '{"__proto__":{"toString":1}}',
      '{"toJSON":1}',
    ])
      expect(rejected(`{"html":"x","emulate_media":${value}}`).message).to.equal(
        '`emulate_media` must be `print` or `screen`, not an object.',
      );
    for (const value of ['["a\\r\\nb"]', `[${'1,'.repeat(5_000)}1]`])
      expect(rejected(`{"html":"x","emulate_media":${value}}`).message).to.equal(
        '`emulate_media` must be `print` or `screen`, not an array.',
      );
  });

  it('adds no field to a request', () => {
    expect(rejected('{"__proto__":{"html":"x"}}').message).to.contain(
      '`__proto__` is not a valid field',
    );
    expect(rejected('{"html":"x","margin":{"__proto__":{"top":"nonsense"}}}').message).to.contain(
      '`margin.__proto__` is not a valid field',
    );
  });

  it('is not used as a value', () => {
    for (const key of KEYS) {
      expect(rejected(`{"html":"x","emulate_media":"${key}"}`).message).to.contain(
        '`emulate_media` must be',
      );
      expect(rejected(`{"html":"x","format":"${key}"}`).message).to.contain('`format` must be');
      expect(rejected(`{"html":"x","margin":{"top":"1${key}"}}`).message).to.contain(
        '`margin.top` must be',
      );
      expect(rejected(`{"html":"x","wait_delay":"1${key}"}`).message).to.contain(
        '`wait_delay` must be',
      );
      expect(rejected(`{"html":"x","header":{"html":"{{${key}}}"}}`).message).to.contain(
        `must not contain "{{${key}}}"`,
      );
    }
  });

  it('is a valid header name, except `__proto__`', () => {
    expect(rejected('{"html":"x","extra_http_headers":{"__proto__":"x"}}').message).to.contain(
      '`__proto__`',
    );
    const given = read(
      '{"html":"x","extra_http_headers":{"constructor":"a","toString":"b","prototype":"c"}}',
    );
    expect(renderSettings(given).headers).to.deep.equal({
      constructor: 'a',
      toString: 'b',
      prototype: 'c',
    });
  });

  it('does no harm in a value of the wrong type', () => {
    for (const text of [
      '{"html":{"__proto__":{"polluted":1}}}',
      '[{"__proto__":1}]',
      '{"html":"x","cookies":{"__proto__":[]}}',
      '{"html":"x","scale":{"__proto__":1}}',
    ])
      expect(rejected(text).code).to.equal('validation_error');
  });
});

describe('a duplicate member', () => {
  it('has its last value, and only that is validated', () => {
    expect(read('{"html":"a","html":"b"}')).to.deep.equal({ html: 'b' });
    expect(read('{"html":1,"html":"b"}')).to.deep.equal({ html: 'b' });
    expect(rejected('{"html":"a","html":1}').message).to.contain('`html` must be');
    expect(
      read('{"html":"x","margin":{"top":"nonsense"},"margin":{"top":"1in"}}').margin,
    ).to.deep.equal({ top: '1in' });
  });

  it('is checked as it is used: the last URL is the one that is checked', () => {
    expect(rejected('{"url":"https://example.com/","url":"http://127.0.0.1/"}').code).to.equal(
      'ssrf_blocked',
    );
    const request = read('{"url":"http://127.0.0.1/","\\u0075rl":"https://example.com/"}');
    expect(renderSettings(request).source).to.include({ url: 'https://example.com/' });
  });
});
