import { expect } from 'chai';
import { pageCount, readChromePdf } from '../../../../api/pdf/chrome-pdf.ts';
import { metadataUpdate, textString, titleOf } from '../../../../api/pdf/metadata.ts';

/** A PDF with Chrome's structure: Info first, one classic table, a trailer. */
function chromePdf({
  info = '/Title (Old \\(1\\))\n/Creator (Chromium)\n/Producer (Skia)\n/CreationDate (D:20261121)',
  kids = 1,
  filler = '',
} = {}) {
  const objects = [
    `<<${info}>>`,
    '<</Type /Catalog\n/Pages 3 0 R>>',
    `<</Type /Pages\n/Kids [${'4 0 R '.repeat(kids)}]\n/Count 7>>`,
    `<</Type /Page\n/Parent 3 0 R\n/MediaBox [0 0 72 72]${filler}>>`,
  ];
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, i) => {
    const at = text.length;
    text += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const tableAt = text.length;
  const entries = offsets.map(at => `${String(at).padStart(10, '0')} 00000 n \n`).join('');
  text += `xref\n0 5\n0000000000 65535 f \n${entries}trailer\n<</Size 5\n/Root 2 0 R\n/Info 1 0 R>>\nstartxref\n${tableAt}\n%%EOF`;
  return Buffer.from(text, 'latin1');
}

const pieces = (pdf: Buffer, size: number) =>
  Array.from({ length: Math.ceil(pdf.length / size) }, (_, i) =>
    pdf.subarray(i * size, (i + 1) * size),
  );

describe('a PDF of Chrome', () => {
  it('is read the same in one piece and in many pieces', () => {
    const pdf = chromePdf();
    for (const size of [1, 7, 100, pdf.length]) {
      const read = readChromePdf(pieces(pdf, size));
      expect(pageCount(read)).to.equal(7);
      expect(read.object(1)).to.include('Skia');
      expect(read.bytes).to.equal(pdf.length);
      expect(read.trailer).to.equal('<</Size 5\n/Root 2 0 R\n/Info 1 0 R>>');
    }
  });
  it('may have objects that are longer than the first block read', () => {
    const read = readChromePdf([chromePdf({ kids: 5_000 })]);
    expect(pageCount(read)).to.equal(7);
  });
  for (const [what, bytes] of Object.entries({
    'no PDF': Buffer.from('hello'),
    nothing: Buffer.alloc(0),
    'cut off': chromePdf().subarray(0, 200),
    'without its head': Buffer.concat([Buffer.from('x'), chromePdf()]),
  }))
    it(`is not ${what}`, () => {
      expect(() => readChromePdf([bytes])).to.throw('the PDF from Chrome is incomplete');
    });
});

describe('the title of a PDF', () => {
  const title = (written: string, metadata = {}) =>
    titleOf(
      readChromePdf([chromePdf({ info: `/Title ${written}\n/Creator (Chromium)` })]),
      metadata,
    );
  for (const text of ['Invoice 42', 'A (b) \\ c', 'Rechnung für Zoë 😀', 'x'.repeat(128)])
    it(`is read as it was written: ${text.slice(0, 20)}`, () => {
      expect(title(textString(text))).to.equal(text);
    });
  it('is that of the request, if it has one', () => {
    expect(title('(Page)', { title: 'Request' })).to.equal('Request');
    expect(title('(Page)', { title: '' })).to.equal(undefined);
  });
  it('is one short line without control characters', () => {
    expect(title(textString(' a\n\tb\u202Ec\u0000 '))).to.equal('a b c');
    expect(title(textString('é'.repeat(500)))).to.have.length(128);
    expect(title(`(${String.raw`a\012b\(`})`)).to.equal('a b(');
  });
  it('is undefined when there is none', () => {
    expect(titleOf(readChromePdf([chromePdf({ info: '/Creator (Chromium)' })]), {})).to.equal(
      undefined,
    );
    for (const written of ['()', '<>', '<FEF>', textString('x'.repeat(20_000))])
      expect(title(written)).to.equal(undefined);
  });
});

describe('the metadata', () => {
  const update = (metadata: object, pdf = chromePdf()) =>
    metadataUpdate(readChromePdf([pdf]), metadata).toString('latin1');

  it('replaces the producer, keeps the rest, and refers to the previous table', () => {
    const pdf = chromePdf();
    const text = update({}, pdf);
    expect(text).to.include('/Title (Old \\(1\\))').and.to.include('/CreationDate (D:20261121)');
    expect(text).to.include('/Creator (Pressroom)').and.to.include('/Producer (Pressroom)');
    expect(text).to.not.match(/Skia|Chromium/);
    expect(text).to.include(`/Prev ${readChromePdf([pdf]).tableAt}>>`);
  });
  it('is at the offset in its own table', () => {
    const pdf = chromePdf();
    const whole = Buffer.concat([
      pdf,
      Buffer.from(update({ title: 'New' }, pdf), 'latin1'),
    ]).toString('latin1');
    const tableAt = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(whole)![1]);
    const entry = /^xref\n1 1\n(\d{10}) 00000 n \n/.exec(whole.slice(tableAt))![1];
    expect(whole.slice(Number(entry))).to.match(/^1 0 obj\n<<\/Title \(New\)/);
  });
  it('removes an entry that is empty in the request', () => {
    expect(update({ title: '' })).to.not.include('/Title');
  });
  it('writes line breaks and tabs as single spaces', () => {
    expect(update({ title: 'a\r\n\r\nb\tc\nd', author: 'é\n' }))
      .to.include('/Title (a b c d)')
      .and.to.include('/Author <FEFF00E90020>');
  });
  for (const [what, title] of [
    ['plain', `(${'x\\)'.repeat(5 * 2 ** 13)})`],
    ['encoded', `<${'0041'.repeat(5 * 2 ** 13)}>`],
  ] as const)
    it(`leaves out a title of 120 KiB or more, ${what}, and keeps what follows it`, () => {
      const text = update(
        {},
        chromePdf({ info: `/Title ${title}\n/Creator (Chromium)\n/CreationDate (D:20261121)` }),
      );
      expect(text).to.not.include('/Title');
      expect(text).to.include('/CreationDate (D:20261121)').and.to.include('/Creator (Pressroom)');
    });
  it('reads at most 256 KiB of a title, so that a long one does not block the event loop', () => {
    const read = readChromePdf([
      chromePdf({ info: `/Title (/Author <41>${'x\\)'.repeat(2 ** 20)})\n/Creator (Chromium)` }),
    ]);
    const readBytes: number[] = [];
    const object: typeof read.object = (...asked) => {
      const text = read.object(...asked);
      readBytes.push(text.length);
      return text;
    };
    const text = metadataUpdate({ ...read, object }, { subject: 'A' }).toString('latin1');
    expect(readBytes).to.deep.equal([256 * 1_024]);
    expect(text).to.not.match(/Title|Author/);
    expect(text).to.include('/Subject (A)').and.to.include('/Creator (Pressroom)');
  });
  it('is added to an empty dictionary', () => {
    expect(update({ author: 'A' }, chromePdf({ info: '' }))).to.include('/Author (A)');
  });

  const texts: [string, string][] = [
    ['abc', '(abc)'],
    ['', '()'],
    ['(\\)', '(\\(\\\\\\))'],
    ['é', '<FEFF00E9>'],
    ['😀', '<FEFFD83DDE00>'],
    ['a\nb', '<FEFF0061000A0062>'],
    ['half \ud83d', '<FEFF00680061006C00660020FFFD>'],
  ];
  for (const [text, written] of texts)
    it(`writes ${JSON.stringify(text)} as ${written}`, () => {
      expect(textString(text)).to.equal(written);
    });
});
