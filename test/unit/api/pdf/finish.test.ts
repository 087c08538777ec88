import { expect } from 'chai';
import { PDFDocument } from 'pdf-lib';
import { accountHolder, createByteBudget } from '../../../../api/http/byte-budget.ts';
import { readChromePdf } from '../../../../api/pdf/chrome-pdf.ts';
import { PdfFinisher } from '../../../../api/pdf/finish.ts';
import { watermarkDrawing } from '../../../../api/pdf/watermark/drawing.ts';
import { addWatermark } from '../../../../api/pdf/watermark/watermark-pdf.ts';
import type { WatermarkPool } from '../../../../api/pdf/watermark/watermark-pool.ts';
import { pdfInfo, pdfPicture } from '../../../support/pdf.ts';

const never = new AbortController().signal;
const KIB = 1_024;

/** Empty pages of these sizes in points, written with a classic table as Chrome's are. */
async function pdfOf(sizes: [number, number][], filler = 0): Promise<Buffer> {
  const document = await PDFDocument.create();
  for (const size of sizes) document.addPage(size);
  if (filler > 0) document.context.register(document.context.stream(Buffer.alloc(filler)));
  return Buffer.from(await document.save({ useObjectStreams: false }));
}

describe('the PDF finisher', () => {
  const adding: WatermarkPool['add'] = async pdf => Buffer.from(pdf);
  const finish = (
    bytes: Buffer[],
    {
      sandbox = false,
      maxBytes = 1024 * KIB,
      budget = createByteBudget(1024 * KIB),
      add = adding,
    } = {},
  ) => {
    const watermarks = { add };
    const reservation = budget.open(accountHolder('account'));
    const pdf = readChromePdf(bytes);
    reservation.reserve(pdf.bytes);
    return new PdfFinisher({ watermarks, maxBytes }).finish(
      { pdf, pages: 1 },
      { metadata: { title: 'New' }, sandbox },
      'account',
      reservation,
      never,
    );
  };
  const failure = async (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it did not fail'),
      error => error,
    );

  it('joins the pieces, and holds the memory of the result', async () => {
    const pdf = await pdfOf([[72, 72]], 100 * KIB);
    const budget = createByteBudget(1024 * KIB);
    const finished = await finish([pdf.subarray(0, 50_000), pdf.subarray(50_000)], { budget });
    expect(finished.subarray(0, pdf.length).equals(pdf)).to.equal(true);
    expect((await PDFDocument.load(finished)).getTitle()).to.equal('New');
    expect(budget.used()).to.equal(finished.length);
  });

  it('holds no pieces beside the whole PDF', async () => {
    const pieces = [await pdfOf([[72, 72]])];
    await finish(pieces);
    expect(pieces).to.deep.equal([]);
  });

  it('fails as overloaded and holds nothing when the whole PDF does not fit into the budget beside its pieces', async () => {
    const budget = createByteBudget(150 * KIB);
    expect(await failure(finish([await pdfOf([[72, 72]], 100 * KIB)], { budget }))).to.include({
      reason: 'overloaded',
    });
    expect(budget.used()).to.equal(0);
  });

  it('counts the memory of a watermark while it is drawn, and then only the finished PDF', async () => {
    const budget = createByteBudget(1024 * KIB);
    let during = 0;
    const add: WatermarkPool['add'] = async pdf => {
      during = budget.used() / pdf.length;
      return Buffer.concat([pdf, Buffer.alloc(1_000)]);
    };
    const finished = await finish([await pdfOf([[72, 72]], 100 * KIB)], {
      sandbox: true,
      budget,
      add,
    });
    expect(during).to.equal(3);
    expect(budget.used()).to.equal(finished.length);
  });

  it('fails as overloaded when a watermark does not fit into the budget', async () => {
    const budget = createByteBudget(250 * KIB, { shareBytes: 250 * KIB });
    const pdf = await pdfOf([[72, 72]], 100 * KIB);
    expect(await failure(finish([Buffer.from(pdf)], { sandbox: true, budget }))).to.include({
      reason: 'overloaded',
    });
    expect(budget.used()).to.equal(0);
    await finish([pdf], { budget });
  });

  it('applies the output limit to the PDF with its watermark', async () => {
    const budget = createByteBudget(1024 * KIB);
    const add: WatermarkPool['add'] = async pdf => Buffer.concat([pdf, Buffer.alloc(20 * KIB)]);
    const pdf = await pdfOf([[72, 72]]);
    const error = await failure(finish([pdf], { sandbox: true, budget, add, maxBytes: 10 * KIB }));
    expect(error).to.include({ code: 'render_failed', reason: 'output_limit' });
    expect(budget.used()).to.equal(0);
  });

  it('holds nothing when the watermark fails', async () => {
    const budget = createByteBudget(1024 * KIB);
    const add: WatermarkPool['add'] = () => Promise.reject(new Error('broken'));
    expect(
      (await failure(finish([await pdfOf([[72, 72]])], { sandbox: true, budget, add }))).message,
    ).to.equal('broken');
    expect(budget.used()).to.equal(0);
  });
});

describe('the watermark', () => {
  it('is drawn once for all pages of a size', async () => {
    const pdf = Buffer.from(
      await addWatermark(await pdfOf([...Array(50).fill([595, 842]), [842, 595]])),
    );
    expect(pdf.toString('latin1').match(/\/Subtype \/Form/g)).to.have.length(2);
    expect((await pdfInfo(pdf)).pages).to.equal(51);
  });

  it('stays inside the page, whatever its shape', async () => {
    for (const size of [
      [595, 842],
      [842, 595],
      [36, 14_400],
      [14_400, 36],
      [36, 36],
    ] as [number, number][]) {
      const picture = await pdfPicture(Buffer.from(await addWatermark(await pdfOf([size]))), 1, 18);
      const dark = (x: number, y: number) => Math.min(...picture.at(x, y)) < 235;
      let inside = 0;
      for (let y = 0; y < picture.height; y++)
        for (let x = 0; x < picture.width; x++) {
          if (!dark(x, y)) continue;
          inside++;
          if (picture.width > 100) expect(x, `${size}`).to.be.within(2, picture.width - 3);
          if (picture.height > 100) expect(y, `${size}`).to.be.within(2, picture.height - 3);
        }
      expect(inside, `${size}`).to.be.greaterThan(5);
    }
  });

  it('is repeated in both directions, never more than 298 mm apart', () => {
    const watermarks = (width: number, height: number) =>
      watermarkDrawing(width, height).match(/^q /gm)!.length;
    expect(watermarks(595, 842)).to.equal(1);
    expect(watermarks(595, 845)).to.equal(2);
    expect(watermarks(595, 14_400)).to.equal(18);
    expect(watermarks(14_400, 14_400)).to.equal(18 * 18);
  });

  it('fails for bytes that are not a PDF', async () => {
    const error = await addWatermark(Buffer.from('hello')).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error).to.be.instanceOf(Error);
  });
});
