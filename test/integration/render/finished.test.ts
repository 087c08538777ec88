// @proves metadata, metadata.title, metadata.author, metadata.subject, metadata.keywords, sandbox
// @proves X-Usage-Count, X-Sandbox
// Post-processing of a PDF: metadata and the sandbox watermark, verified with independent tools.
import { expect } from 'chai';
import { PDFDocument } from 'pdf-lib';
import { eventually } from '../../support/eventually.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfFonts, pdfInfo, pdfPageSizes, pdfPicture, pdfText } from '../../support/pdf.ts';

const TEXTS = {
  'plain text': 'Invoice 42',
  'parentheses and backslashes': 'a (b) c) d( \\ \\n \\101 \\)',
  'Latin letters beyond ASCII': 'Überweisung für Ærø, Nº 7 €',
  'Chinese, Japanese and Korean': '请款单 請求書 청구서',
  'right to left': 'فاتورة חשבונית',
  emoji: '📄👩🏽‍💻🇪🇺',
  'text that looks like another encoding': 'þÿ<FEFF0041>',
  'keywords of PDF syntax': 'an endobj here >> endstream',
};

const page = (body: string, head = '') => html(body, `<style>body{margin:0}</style>${head}`);

describe('post-processing of a PDF', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom?.stop());

  describe('metadata', () => {
    it('names Pressroom as producer and creator by default', async () => {
      const info = await pdfInfo(await pressroom.pdf({ html: page('x') }));
      expect(info).to.include({
        producer: 'Pressroom',
        creator: 'Pressroom',
        title: 'T',
        author: '',
        subject: '',
        keywords: '',
      });
      expect(info.created).to.match(/\d/);
    });
    for (const [what, text] of Object.entries(TEXTS))
      it(`stores ${what} in every field`, async () => {
        const metadata = {
          title: `${text} 1`,
          author: `${text} 2`,
          subject: `${text} 3`,
          keywords: `${text} 4`,
        };
        const pdf = await pressroom.pdf({ html: page('x'), metadata });
        expect(await pdfInfo(pdf)).to.include({
          ...metadata,
          producer: 'Pressroom',
          creator: 'Pressroom',
        });
        const again = await PDFDocument.load(pdf, { updateMetadata: false });
        expect(again.getTitle()).to.equal(metadata.title);
        expect(again.getAuthor()).to.equal(metadata.author);
        expect(again.getSubject()).to.equal(metadata.subject);
        expect(again.getKeywords()).to.equal(metadata.keywords);
        expect(again.getProducer()).to.equal('Pressroom');
        expect(Math.abs(again.getCreationDate()!.getTime() - Date.now())).to.be.lessThan(600_000);
      });
    it('uses the title of the document by default', async () => {
      for (const title of Object.values(TEXTS)) {
        const source = `<!doctype html><title>${title.replace('<', '&lt;')}</title>x`;
        expect(
          await pdfInfo(await pressroom.pdf({ html: source, metadata: { author: 'A' } })),
        ).to.include({ title, author: 'A' });
      }
    });
    it('omits the title when the request has an empty one', async () => {
      expect(
        (await pdfInfo(await pressroom.pdf({ html: page('x'), metadata: { title: '' } }))).title,
      ).to.equal('');
    });
    it('joins several lines into one', async () => {
      const metadata = { title: 'Invoice\r\n  42', subject: 'a \tb\n\n c' };
      expect(await pdfInfo(await pressroom.pdf({ html: page('x'), metadata }))).to.include({
        title: 'Invoice 42',
        subject: 'a b c',
      });
    });
    it('stores a title of the maximum length', async () => {
      const title = '界'.repeat(682);
      expect(
        (await pdfInfo(await pressroom.pdf({ html: page('x'), metadata: { title } }))).title,
      ).to.equal(title);
    });
  });

  it('keeps text, pages and links of a PDF with metadata', async () => {
    const source = page(
      '<h1>TEXT</h1><p style="break-before:page">MORE</p><a href="https://a.example/">link</a>',
    );
    const pdf = await pressroom.pdf({ html: source, metadata: { title: 'x' } });
    expect((await pdfText(pdf)).split(/\s+/)).to.include.members(['TEXT', 'MORE', 'link']);
    expect((await PDFDocument.load(pdf)).getPageCount()).to.equal(2);
  });

  describe('sandbox renders', () => {
    const sandbox = (request: object) => pressroom.render({ sandbox: true, ...request });
    const watermarked = (request: object) => pressroom.pdf({ sandbox: true, ...request });

    /** Whether a pixel differs from the background, so belongs to the watermark. */
    const isWatermark =
      (background: [number, number, number]) => (colour: [number, number, number]) =>
        Math.max(...colour.map((part, i) => Math.abs(part - background[i]!))) > 25;
    async function coverage(
      pdf: Buffer,
      background: [number, number, number],
      number = 1,
    ): Promise<number> {
      const picture = await pdfPicture(pdf, number);
      let found = 0;
      for (let y = 0; y < picture.height; y++)
        for (let x = 0; x < picture.width; x++)
          if (isWatermark(background)(picture.at(x, y))) found++;
      return found / (picture.width * picture.height);
    }

    it('sends X-Sandbox and does not count the render', async () => {
      const before = await pressroom.usage();
      const counted = await pressroom.render({ html: page('x') });
      expect(counted.headers)
        .to.include({ 'x-usage-count': `${before + 1}` })
        .and.to.not.have.property('x-sandbox');
      const answer = await sandbox({ html: page('x') });
      expect(answer.status).to.equal(200);
      expect(answer.headers)
        .to.include({ 'x-sandbox': 'true', 'x-pdf-pages': '1' })
        .and.to.not.have.property('x-usage-count');
      expect(answer.headers['server-timing'])
        .to.match(/print;dur=\S+ post;dur=/)
        .and.to.not.include('settle');
      expect(await pressroom.usage()).to.equal(before + 1);
      expect(await pressroom.running()).to.equal(0);
      expect((await pressroom.render({ html: page('x'), sandbox: false })).headers).to.include({
        'x-usage-count': `${before + 2}`,
      });
    });

    it('counts toward the concurrency limit', async () => {
      const running = sandbox({ html: page('x'), wait_delay: '20s' });
      await eventually(async () => expect(await pressroom.running()).to.equal(1));
      running.disconnect();
      await running.catch(() => {});
      await eventually(async () => expect(await pressroom.running()).to.equal(0));
    });

    const pagesUnderTest: [string, string, [number, number, number]][] = [
      ['an empty page', '', [255, 255, 255]],
      ['a black page', '<style>html{background:#000}</style>', [0, 0, 0]],
      [
        'a page in the colour of the watermark',
        '<style>html{background:rgb(191,26,26)}</style>',
        [191, 26, 26],
      ],
      [
        'a full-page layer with the highest z-index',
        '<div style="position:fixed;inset:-99px;background:#fff;z-index:2147483647"></div>',
        [255, 255, 255],
      ],
      [
        'a full-page modal dialog',
        '<dialog id="d" style="border:0;inset:0;width:100%;height:100%;max-width:none;max-height:none;background:#fff"></dialog><script>d.showModal()</script>',
        [255, 255, 255],
      ],
      [
        'a page with styles against watermarks',
        '<style>*{opacity:1!important;visibility:visible!important;mix-blend-mode:difference}</style>',
        [255, 255, 255],
      ],
      [
        'a full-page image',
        '<svg style="position:fixed;inset:0;width:100%;height:100%"><rect width="100%" height="100%" fill="#fff"/></svg>',
        [255, 255, 255],
      ],
    ];
    for (const [what, body, background] of pagesUnderTest)
      it(`draws the watermark over ${what}`, async () => {
        const pdf = await watermarked({
          html: page(`${body}<p>TEXT</p>`),
          margin: { top: '0', right: '0', bottom: '0', left: '0' },
        });
        expect(await coverage(pdf, background)).to.be.within(0.03, 0.4);
        expect(await pdfText(pdf)).to.include('TEXT');
      });

    it('draws the watermark over the header and keeps its text', async () => {
      const pdf = await watermarked({
        html: page('x'),
        header: { html: '<div style="background:#fff;height:100%">HEAD</div>', height: '140mm' },
      });
      expect(await coverage(pdf, [255, 255, 255])).to.be.greaterThan(0.03);
      expect(await pdfText(pdf)).to.include('HEAD');
    });

    for (const [what, options] of Object.entries({
      landscape: { landscape: true },
      small: {
        format: '60mmx30mm',
        margin: { left: '5mm', right: '5mm', top: '5mm', bottom: '5mm' },
      },
      large: { format: 'A1' },
    }))
      it(`draws the watermark on every page of a ${what} sheet`, async () => {
        const pdf = await watermarked({
          html: page('<p style="break-after:page">ONE</p><p>TWO</p>'),
          ...options,
        });
        expect((await pdfInfo(pdf)).pages).to.equal(2);
        for (const number of [1, 2])
          expect(await coverage(pdf, [255, 255, 255], number)).to.be.within(0.03, 0.4);
        expect((await pdfText(pdf)).split(/\s+/)).to.include.members(['ONE', 'TWO']);
      });

    it('draws the watermark on each page size of `prefer_css_page_size`', async () => {
      const pdf = await watermarked({
        html: page(
          '<style>@page{size:A5}@page wide{size:A4 landscape}@page label{size:60mm 40mm;margin:5mm}</style><p>ONE</p><p style="page:wide">TWO</p><p style="page:label">THREE</p>',
        ),
        prefer_css_page_size: true,
      });
      expect(await pdfPageSizes(pdf)).to.deep.equal(['148x210', '297x210', '60x40']);
      for (const number of [1, 2, 3])
        expect(await coverage(pdf, [255, 255, 255], number)).to.be.within(0.03, 0.4);
    });

    it('draws a translucent watermark', async () => {
      const halves = page(
        '<div style="position:fixed;inset:0;background:linear-gradient(#000 50%,#fff 50%)"></div>',
      );
      const picture = await pdfPicture(
        await watermarked({
          html: halves,
          margin: { top: '0', right: '0', bottom: '0', left: '0' },
        }),
      );
      for (let y = 0; y < picture.height; y += 3)
        for (let x = 0; x < picture.width; x += 3) {
          const [red, green, blue] = picture.at(x, y);
          if (y < picture.height / 2 - 2) expect(Math.max(red, green, blue)).to.be.lessThan(140);
          if (y > picture.height / 2 + 2) expect(Math.min(red, green, blue)).to.be.greaterThan(140);
        }
    });

    it('repeats the watermark on a very tall page', async () => {
      const pdf = await watermarked({
        html: page('<div style="height:150in"></div>'),
        single_page: true,
      });
      const { heightMm } = await pdfInfo(pdf);
      const picture = await pdfPicture(pdf, 1, 18);
      const rows = Array.from({ length: picture.height }, (_, y) => y).filter(y =>
        Array.from({ length: picture.width }, (_, x) => picture.at(x, y)).some(
          isWatermark([255, 255, 255]),
        ),
      );
      const gaps = [...rows, picture.height].map((y, i) => y - (rows[i - 1] ?? 0));
      expect((Math.max(...gaps) / picture.height) * heightMm).to.be.lessThan(297 / 2);
    });

    it('draws the watermark on each of 300 pages', async () => {
      const many = Array.from({ length: 300 }, (_, n) => `<p>P${n}</p>`).join(
        '<div style="break-after:page"></div>',
      );
      const answer = await sandbox({ html: page(many) });
      expect(answer.headers['x-pdf-pages']).to.equal('300');
      const pdf = await PDFDocument.load(answer.body);
      const marks = pdf.getPages().filter(each =>
        each.node
          .normalizedEntries()
          .XObject.keys()
          .some(key => `${key}`.startsWith('/PressroomSandbox')),
      );
      expect(marks).to.have.length(300);
      for (const number of [1, 150, 300])
        expect(await coverage(answer.body, [255, 255, 255], number)).to.be.greaterThan(0.03);
    });

    it('keeps metadata, links and embedded fonts', async () => {
      const pdf = await watermarked({
        html: page('<a href="https://a.example/">a</a>'),
        metadata: { title: '請求書 (1)' },
      });
      expect(await pdfInfo(pdf)).to.include({
        title: '請求書 (1)',
        producer: 'Pressroom',
        creator: 'Pressroom',
      });
      expect((await pdfFonts(pdf)).filter(({ embedded }) => !embedded)).to.deep.equal([]);
      expect((await PDFDocument.load(pdf)).getPage(0).node.Annots()?.size()).to.equal(1);
    });

    it('writes the PDF without incremental updates, so the watermark cannot be cut off', async () => {
      const pdf = await watermarked({ html: page('x') });
      const ends = [...pdf.toString('latin1').matchAll(/%%EOF/g)];
      expect(ends).to.have.length(1);
    });

    it('measures the post phase', async () => {
      expect(await pressroom.metrics.text()).to.match(
        /pressroom_render_duration_seconds_count\{phase="post"\} [1-9]/,
      );
    });
  });
});

describe('post-processing of a tagged PDF', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation({ env: { PRESSROOM_TAGGED_PDF: 'on' } });
  });
  after(() => pressroom?.stop());

  for (const sandbox of [false, true])
    it(`keeps tags and sets metadata${sandbox ? ' with the watermark' : ''}`, async () => {
      const request = {
        html: page('<h1>HEADING</h1>'),
        sandbox,
        metadata: { author: 'Ærø' },
        header: { html: 'HEAD' },
      };
      const pdf = await pressroom.pdf(request);
      expect(await pdfInfo(pdf)).to.include({ tagged: true, author: 'Ærø', producer: 'Pressroom' });
      expect(await pdfText(pdf)).to.include('HEADING');
    });
});
