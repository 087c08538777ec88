import { expect } from 'chai';
import { overloaded } from '../../../../api/http/byte-budget.ts';
import { print } from '../../../../api/page/print.ts';
import { renderSettings } from '../../../../api/page/render-settings.ts';
import type { Session } from '../../../../api/workers/session.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { minimalPdf } from '../../../support/minimal-pdf.ts';
import { PUBLIC } from '../../../support/request-error.ts';
import { errorOf } from '../../../support/worker.ts';

const MIB = 2 ** 20;
const PIECE = MIB / 2;

/**
 * Answers as Chrome does: as many bytes as were asked for, or all that are left; the end only when
 * none is left. `short`: so many fewer, but for the last, as it is with bytes that could be a part
 * of a character.
 */
function printing(pdf: string, { maxBytes = 16 * MIB, short = 0 } = {}) {
  let reads = 0;
  let at = 0;
  const command = async (method: string, params: { size?: number }) => {
    if (method === 'Page.printToPDF') return { stream: 'the handle' };
    if (method !== 'IO.read') throw new Error(method);
    reads += 1;
    const isFull = pdf.length - at >= params.size!;
    const data = pdf.slice(at, at + params.size! - (isFull ? short : 0));
    at += data.length;
    return { data, eof: data.length === 0, base64Encoded: false };
  };
  const session = { ended: new Promise(() => {}), command } as unknown as Session;
  let held = 0;
  const reservation = {
    reserve: (bytes: number) => {
      held += bytes;
      return true;
    },
    release: (bytes: number) => {
      held -= bytes;
    },
    overBudget: overloaded,
  };
  const printed = print(
    session,
    renderSettings(parseRenderRequest({ html: 'x' }, PUBLIC)),
    { maxBytes, tagged: false },
    reservation,
  );
  return { printed, reads: () => reads, held: () => held };
}

describe('the pieces of a PDF', () => {
  const sizes: [string, number, number][] = [
    ['a piece that is not full', 1_000, 1],
    ['one byte less than a piece', PIECE - 1, 1],
    ['exactly a piece', PIECE, 3],
    ['one byte more', PIECE + 1, 3],
    ['three pieces', 3 * PIECE, 5],
    ['many, the last of them not full', 5 * MIB - 7, 11],
  ];
  for (const [what, bytes, reads] of sizes)
    it(`are all read, and little beyond them: ${what}`, async () => {
      const pdf = minimalPdf(bytes);
      const { printed, reads: made, held } = printing(pdf);
      const read = await printed;
      expect(Buffer.concat(read.pdf.pieces).toString()).to.equal(pdf);
      expect(pdf).to.have.length(bytes);
      expect(held()).to.equal(bytes);
      expect(made()).to.equal(reads);
    });

  it('are all read when most of them are some bytes short', async () => {
    for (const short of [1, 3, 11]) {
      const pdf = minimalPdf(3 * MIB);
      const { printed, reads } = printing(pdf, { short });
      expect(Buffer.concat((await printed).pdf.pieces).toString()).to.equal(pdf);
      expect(reads()).to.equal(7);
    }
  });

  it('are rejected when they end before their PDF does', async () => {
    const { printed, held } = printing(minimalPdf(2_000).slice(0, 1_500));
    expect(await errorOf(printed)).to.have.property('message', 'the PDF from Chrome is incomplete');
    expect(held()).to.equal(0);
  });

  it('are released when they exceed the limit', async () => {
    const { printed, held } = printing(minimalPdf(3 * MIB), { maxBytes: MIB });
    expect(await errorOf(printed)).to.include({ reason: 'output_limit' });
    expect(held()).to.equal(0);
  });
});
