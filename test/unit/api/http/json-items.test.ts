import { expect } from 'chai';
import {
  type ItemOptions,
  JsonArrayItems,
  type JsonItem,
  JsonLines,
} from '../../../../api/http/json-items.ts';

const OPTIONS: ItemOptions = { maxItemBytes: 1_000, reserve: () => undefined };
type Kind = typeof JsonLines | typeof JsonArrayItems;

/** The items of a body that arrives in pieces of this size. */
function itemsIn(kind: Kind, body: string, pieceBytes: number, options = OPTIONS): JsonItem[] {
  const items = new kind(options);
  const bytes = Buffer.from(body);
  const found: JsonItem[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes)
    found.push(...items.push(bytes.subarray(at, at + pieceBytes)));
  const last = items.end();
  return last ? [...found, last] : found;
}

const shown = (items: JsonItem[]) =>
  items.map(({ where, bytes }) => [where, bytes.toString().trim()]);

describe('the items of a body', () => {
  const LINES = '{"a":1}\n\n  {"b":"ü\\n{"}\r\n \n{"c":[{}]}';
  const ARRAY = ' [ {"a":1},\n{"b":"ü]},\\"{[\\\\"} , {"c":[{}, "]"]}\n] \n';

  it('are lines, wherever the pieces of the body end', () => {
    for (let size = 1; size <= Buffer.byteLength(LINES); size++)
      expect(shown(itemsIn(JsonLines, LINES, size)), `${size}`).to.deep.equal([
        ['Line 1', '{"a":1}'],
        ['Line 3', '{"b":"ü\\n{"}'],
        ['Line 5', '{"c":[{}]}'],
      ]);
    expect(itemsIn(JsonLines, `${LINES}\n`, 7)).to.have.length(3);
  });

  it('are elements of an array, wherever the pieces of the body end', () => {
    for (let size = 1; size <= Buffer.byteLength(ARRAY); size++)
      expect(shown(itemsIn(JsonArrayItems, ARRAY, size)), `${size}`).to.deep.equal([
        ['Item 1', '{"a":1}'],
        ['Item 2', '{"b":"ü]},\\"{[\\\\"}'],
        ['Item 3', '{"c":[{}, "]"]}'],
      ]);
    expect(itemsIn(JsonArrayItems, '[]', 1)).to.deep.equal([]);
  });

  it('are those that JSON.parse finds in an array', () => {
    const values = Array.from({ length: 50 }, (_, nth) => ({
      text: '"\\]}{[,'.slice(0, nth % 8).repeat(nth),
      nested: [[{ nth }], `${nth}`],
    }));
    for (const indent of [0, 2])
      for (const size of [1, 3, 64, 1_000]) {
        const body = JSON.stringify(values, undefined, indent);
        const items = itemsIn(JsonArrayItems, body, size, { ...OPTIONS, maxItemBytes: 10_000 });
        expect(items.map(({ bytes }) => JSON.parse(bytes.toString()))).to.deep.equal(values);
      }
  });

  for (const [body, message] of [
    ['', 'it ends before the closing `]`'],
    ['[{}', 'it ends before the closing `]`'],
    ['[{"a":"]}', 'it ends before the closing `]`'],
    ['{}', 'it does not begin with `[`'],
    ['\ufeff[]', 'it does not begin with `[`'],
    ['[{}{}]', '`,` or the closing `]` is missing before item 2'],
    ['[{},]', 'item 2 is not a JSON object'],
    ['[,{}]', 'item 1 is not a JSON object'],
    ['[1]', 'item 1 is not a JSON object'],
    ['[{},[]]', 'item 2 is not a JSON object'],
    ['[]]', 'there is text after the closing `]`'],
    ['[{}] {}', 'there is text after the closing `]`'],
  ] as const)
    it(`are not found in ${JSON.stringify(body)}`, () => {
      expect(() => itemsIn(JsonArrayItems, body, 2)).to.throw(message);
    });

  it('are limited in size, and reserve memory before they are complete', () => {
    for (const [kind, body, where] of [
      [JsonLines, `{}\n{"a":"${'x'.repeat(2_000)}"}`, 'Line 2'],
      [JsonArrayItems, `[{},{"a":"${'x'.repeat(2_000)}"}]`, 'Item 2'],
    ] as const) {
      expect(() => itemsIn(kind, body, 100)).to.throw(`${where} is larger than 1000 bytes.`);
      const reserve = () => new Error('no memory');
      expect(() => itemsIn(kind, body, 100, { ...OPTIONS, reserve })).to.throw('no memory');
    }
  });

  it('hold no memory for blank lines', () => {
    let reserved = 0;
    const reserve = (bytes: number) => {
      reserved += bytes;
      return undefined;
    };
    const items = itemsIn(JsonLines, `${'\r\n'.repeat(1_000)}${'\n'.repeat(1_000)}{}`, 64, {
      ...OPTIONS,
      reserve,
    });
    expect(shown(items)).to.deep.equal([['Line 2001', '{}']]);
    expect(reserved).to.be.lessThan(10_000);
  });

  it('hold the memory of the incomplete item alone', () => {
    const items = new JsonLines(OPTIONS);
    expect([...items.push(Buffer.from('{"a":1}\n{"b"'))]).to.have.length(1);
    expect(items.pendingBytes).to.be.within(4, 4_096);
    expect([...items.push(Buffer.from(':1}\n'))]).to.have.length(1);
    expect(items.pendingBytes).to.equal(0);
  });
});
