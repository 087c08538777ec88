import { expect } from 'chai';
import fc from 'fast-check';
import { ApiError } from '../../api/contract/errors.ts';
import { findJsonMistake, parseJson, parseJsonInTurns } from '../../api/http/json-text.ts';

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
    ['', 'a value is expected at line 1, column 1, where it ends'],
    ['  ', 'a value is expected at line 1, column 3, where it ends'],
    ['{"html": "a"', '`,` or `}` is expected at line 1, column 13, where it ends'],
    ['{\n  "html": <p>\n}', 'a value is expected at line 2, column 11'],
    ['{\n  "html": "a",\n}', 'a name in double quotes is expected at line 3, column 1'],
    ["{'html': 1}", 'a name in double quotes or `}` is expected at line 1, column 2'],
    ['{html: 1}', 'a name in double quotes or `}` is expected at line 1, column 2'],
    ['{"a" 1}', '`:` is expected at line 1, column 6'],
    ['{"a": 1 "b": 2}', '`,` or `}` is expected at line 1, column 9'],
    ['[1 2]', '`,` or `]` is expected at line 1, column 4'],
    ['[1,]', 'a value is expected at line 1, column 4'],
    ['[}', 'a value or `]` is expected at line 1, column 2'],
    ['{"a": 1}}', 'nothing more is expected at line 1, column 9'],
    ['{"a": 01}', '`,` or `}` is expected at line 1, column 8'],
    ['{"a": NaN}', 'a value is expected at line 1, column 7'],
    ['{"a": "one\ntwo"}', 'write a new line as `\\n`), is expected at line 1, column 11'],
    ['{"a": "never closed', 'a closing quote'],
    ['{"a": "\\x"}', 'one of the escapes that JSON knows is expected at line 1, column 8'],
    ['{"a": "\\u12g4"}', 'one of the escapes that JSON knows is expected at line 1, column 8'],
  ];
  for (const [text, where] of wrong) {
    it(`that is ${JSON.stringify(text)} is refused, and the message says where`, () => {
      const error = mistake(text);
      expect(error).to.include({ code: 'validation_error', status: 400 });
      expect(error.message).to.contain(where);
    });
  }

  it('is refused when it is not UTF-8', () => {
    expect(mistake(Buffer.from([0x22, 0xff, 0x22])).message).to.contain('UTF-8');
    expect(mistake(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])).message).to.contain('UTF-8');
  });

  it('may begin with a byte order mark', () => {
    expect(parseJson(Buffer.from('\ufeff{"a":1}'))).to.deep.equal({ a: 1 });
  });

  it('is judged as JSON.parse judges it, whatever is broken in it', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', '{', '}', ']', ',', ':', '\\', '0', 'e', '-', '\n', '\u0007', 'nul'))
      .map(([text, at, put]) => text.slice(0, at % (text.length + 1)) + put + text.slice((at % (text.length + 1)) + 1));
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(broken, text => (findJsonMistake(text) === undefined) === isJson(text)),
      { numRuns: 3_000 },
    );
  });

  it('of ten million characters in one string or a million brackets costs no deep stack', () => {
    expect(mistake(`{"html": "${'a'.repeat(1e7)}`).message).to.contain('column 10000011, where it ends');
    expect(findJsonMistake('['.repeat(1e6))).to.include({ offset: 1e6 });
  });

  const tooMuch: [string, string, string][] = [
    ['brackets', '['.repeat(1e6), '32 levels'],
    ['arrays in a field', `{"html":${'['.repeat(40)}${']'.repeat(40)}}`, '32 levels'],
    ['objects', '{"a":'.repeat(33), '32 levels'],
    ['fields', `{${Array.from({ length: 20_000 }, (_, i) => `"a${i}":1`).join()}}`, '10000 members'],
    ['elements', `[${'1,'.repeat(20_000)}1]`, '10000 members'],
  ];
  for (const [what, text, words] of tooMuch)
    it(`of ${what} without measure is refused before it is parsed`, () => {
      expect(mistake(text)).to.include({ code: 'validation_error' });
      expect(mistake(text).message).to.contain(words);
    });

  it('may have brackets, commas and quotes in its strings as it likes', () => {
    const html = '[{,\\"\\\\'.repeat(20_000);
    expect(parseJson(Buffer.from(`{"html":"${html}"}`))).to.deep.equal({ html: JSON.parse(`"${html}"`) });
  });

  it('is the same value, or the same mistake, when others have their turns between', async () => {
    expect(await parseJsonInTurns(Buffer.from('{"html": "a€"}'))).to.deep.equal({ html: 'a€' });
    for (const [text] of [...wrong, ...tooMuch]) {
      const error = await parseJsonInTurns(Buffer.from(text)).catch((reason: Error) => reason);
      expect(error).to.be.instanceOf(ApiError).with.property('message', mistake(text).message);
    }
  });

  it('that is parsed in turns holds the event loop for no two of its steps', async () => {
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
