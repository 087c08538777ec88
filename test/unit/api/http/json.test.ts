import { expect } from 'chai';
import fc from 'fast-check';
import { mistakeIn, parseJson, parseJsonInTurns } from '../../../../api/http/body.ts';
import { ApiError } from '../../../../common/contract/errors.ts';

const mistake = (text: string | Buffer): ApiError => {
  try {
    parseJson(Buffer.from(text as string));
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  return expect.fail(`${text} was taken for JSON`);
};

describe('a JSON body', () => {
  const wrong: [string, string][] = [
    ['', 'Unexpected end of JSON input.'],
    ['{"html": ', 'Unexpected end of JSON input.'],
    ['{"html": "a"', "Expected ',' or '}' after property value at line 1, column 13."],
    ['{\n  "html": <p>\n}', "Unexpected token '<'."],
    ['{\n  "html": "a",\n}', 'Expected double-quoted property name at line 3, column 1.'],
    ["{'html': 1}", "Expected property name or '}' at line 1, column 2."],
    ['{"a" 1}', "Expected ':' after property name at line 1, column 6."],
    ['[1 2]', "Expected ',' or ']' after array element at line 1, column 4."],
    ['{"a": 1}}', 'Unexpected non-whitespace character after JSON at line 1, column 9.'],
    ['{"a": NaN}', "Unexpected token 'N'."],
    ['{"a": "one\ntwo"}', 'Bad control character in string literal at line 1, column 11.'],
    ['{"a": "never closed', 'Unterminated string at line 1, column 20.'],
    ['{"a": "\\x"}', 'Bad escaped character at line 1, column 9.'],
  ];
  for (const [text, what] of wrong) {
    it(`is rejected with a message that names the problem: ${JSON.stringify(text)}`, () => {
      const error = mistake(text);
      expect(error).to.include({ code: 'validation_error', status: 400 });
      expect(error.message).to.equal(`The request body is not valid JSON: ${what}`);
    });
  }

  it('is rejected when it is not UTF-8', () => {
    expect(mistake(Buffer.from([0x22, 0xff, 0x22])).message).to.contain('UTF-8');
    expect(mistake(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])).message).to.contain('UTF-8');
  });

  it('may begin with a byte order mark', () => {
    expect(parseJson(Buffer.from('\ufeff{"a":1}'))).to.deep.equal({ a: 1 });
  });

  it('is never quoted in the message of a syntax error', () => {
    const secret = 'SECRET is not valid JSON (line 1 column 2)';
    const broken = fc
      .tuple(
        fc.nat(),
        fc.constantFrom(
          '',
          '"',
          '{',
          '}',
          ']',
          ',',
          ':',
          '\\',
          '0',
          '-',
          '\n',
          '\u0007',
          'nul',
          ' in JSON at position 1',
        ),
      )
      .map(([at, put]) => {
        const text = JSON.stringify({
          html: secret,
          [secret]: [secret, 1, null],
          css: `"${secret}"`,
        });
        return (
          text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1)
        );
      });
    fc.assert(
      fc.property(fc.oneof(broken, fc.constant(secret), fc.constant(`{"a": ${secret}`)), text => {
        try {
          parseJson(Buffer.from(text));
        } catch (error) {
          expect((error as Error).message).to.not.match(/SEC|RET|position/);
          expect((error as Error).message.length).to.be.below(150);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('is never quoted for an error message that this Node version does not have', () => {
    expect(mistakeIn('Unexpected "SECRET" in JSON at position 1 (line 1 column 2)')).to.equal(
      'Unexpected token',
    );
    expect(mistakeIn('"SECRET" is not valid JSON')).to.equal('Unexpected token');
  });

  it('is rejected with a syntax error after a string of ten million characters', () => {
    expect(mistake(`{"html": "${'a'.repeat(1e7)}`).message).to.contain('column 10000011');
  });

  const tooMuch: [string, string, string][] = [
    ['brackets', '['.repeat(1e6), '32 levels'],
    ['arrays in a field', `{"html":${'['.repeat(40)}${']'.repeat(40)}}`, '32 levels'],
    ['objects', '{"a":'.repeat(33), '32 levels'],
    [
      'fields',
      `{${Array.from({ length: 20_000 }, (_, i) => `"a${i}":1`).join()}}`,
      '10000 members',
    ],
    ['elements', `[${'1,'.repeat(20_000)}1]`, '10000 members'],
  ];
  for (const [what, text, message] of tooMuch)
    it(`is rejected before it is parsed when it has too many ${what}`, () => {
      expect(mistake(text)).to.include({ code: 'validation_error' });
      expect(mistake(text).message).to.contain(message);
    });

  it('may have brackets, commas and quotes in its strings', () => {
    const html = '[{,\\"\\\\'.repeat(20_000);
    expect(parseJson(Buffer.from(`{"html":"${html}"}`))).to.deep.equal({
      html: JSON.parse(`"${html}"`),
    });
  });

  it('has the same value or error when it is parsed between other events', async () => {
    expect(await parseJsonInTurns(Buffer.from('{"html": "a€"}'))).to.deep.equal({ html: 'a€' });
    for (const [text] of [...wrong, ...tooMuch]) {
      const error = await parseJsonInTurns(Buffer.from(text)).catch((reason: Error) => reason);
      expect(error).to.be.instanceOf(ApiError).with.property('message', mistake(text).message);
    }
  });

  it('returns to the event loop after each step when it is parsed in steps', async () => {
    let turns = 0;
    const tick = () => {
      turns += 1;
      next = setImmediate(tick);
    };
    let next = setImmediate(tick);
    await parseJsonInTurns(Buffer.from('{"html": ""}'));
    clearImmediate(next);
    expect(turns).to.be.at.least(2);
  });
});
