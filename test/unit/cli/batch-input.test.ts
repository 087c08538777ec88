import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { BatchInput } from '../../../cli/batch-input.ts';

async function* inPieces(text: string, size: number): AsyncGenerator<Buffer, void> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function partsOf(text: string, { size = 7, most = 2 } = {}) {
  const input = new BatchInput(inPieces(text, size));
  const parts = [];
  for (let part = await input.part(most); part; part = await input.part(most)) parts.push(part);
  return parts.map(({ requests, body, sha256 }) => ({
    lines: requests.map(({ line }) => line),
    names: requests.map(({ name }) => name),
    body: body().toString(),
    sha256,
  }));
}

const TEXT =
  '{"defaults":{"format":"A5"}}\n{"html":"1"}\r\n\n \t\n{"html":"2"}\n{"html":"3ü\u2028"}';

describe('the input of `pressroom batch`', () => {
  it('is split into parts that keep defaults and line numbers', async () => {
    for (const size of [1, 7, 1_000]) {
      const parts = await partsOf(TEXT, { size });
      expect(parts.map(({ lines }) => lines)).to.deep.equal([[2, 5], [6]]);
      const [first, second] = parts.map(({ body }) => body.split('\n'));
      expect(first).to.deep.equal([
        '{"defaults":{"format":"A5"}}',
        '{"html":"1"}\r',
        '',
        '',
        '{"html":"2"}',
      ]);
      expect(second).to.deep.equal([
        '{"defaults":{"format":"A5"}}',
        '',
        '',
        '',
        '',
        '{"html":"3ü\u2028"}',
      ]);
    }
  });

  it('has no parts without a request', async () => {
    expect(await partsOf('')).to.deep.equal([]);
    expect(await partsOf('\n\n{"defaults":{}}\n\n')).to.deep.equal([]);
  });

  it('has hashes of all lines up to the end of a part', async () => {
    const hash = (text: string) => createHash('sha256').update(text).digest('hex');
    const parts = await partsOf('1\n\n2\n3\n');
    expect(parts.map(({ sha256 }) => sha256)).to.deep.equal([hash('1\n2\n'), hash('1\n2\n3\n')]);
    const [whole] = await partsOf('1\n2\n3', { most: 3 });
    expect(whole!.sha256).to.equal(parts[1]!.sha256);
  });

  it('begins another part above 16 MiB', async () => {
    const large = JSON.stringify({ html: 'x'.repeat(9 * 2 ** 20) });
    const parts = await partsOf([large, large, '{}'].join('\n'), { size: 2 ** 16, most: 10 });
    expect(parts.map(({ lines }) => lines)).to.deep.equal([[1], [2, 3]]);
  });

  it('names PDFs by line, and reference or filename', async () => {
    const [part] = await partsOf(
      [
        '{"reference":"a/../b","filename":"c"}',
        '{"filename":"c.pdf"}',
        '{"reference":7}',
        'no JSON',
        '[1]',
      ].join('\n'),
      { most: 10 },
    );
    expect(part!.names).to.deep.equal([
      '000001-a-.-b.pdf',
      '000002-c.pdf',
      '000003.pdf',
      '000004.pdf',
      '000005.pdf',
    ]);
  });

  it('cuts long names at 180 bytes, between characters', async () => {
    const references = ['請'.repeat(80), `x${'𠀀'.repeat(80)}`, 'x'.repeat(80)];
    const text = references.map(reference => JSON.stringify({ reference })).join('\n');
    const [part] = await partsOf(text, { most: 10 });
    expect(part!.names).to.deep.equal([
      `000001-${'請'.repeat(60)}.pdf`,
      `000002-x${'𠀀'.repeat(44)}.pdf`,
      `000003-${'x'.repeat(80)}.pdf`,
    ]);
  });
});
