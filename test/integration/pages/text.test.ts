import { expect } from 'chai';
import { SCRIPTS, type Script, scriptsWithoutFont } from '../../../standalone/fonts.ts';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfFonts, pdfImage, pdfPixels, pdfText, pdfWords } from '../../support/pdf.ts';
import { skip } from '../../support/skip.ts';

/** Without the marks that tell directions apart, and spaces, which each reader sets as it likes. */
const letters = (text: string) =>
  text.normalize('NFKC').replace(/\s|\ufe0f|\p{Bidi_Control}/gu, '');

describe('text', () => {
  let pressroom: Installation;
  let missing: Script[];
  before(async () => {
    pressroom = await installation();
    const { chrome } = readWorkerConfig(process.env);
    missing = await scriptsWithoutFont({ ...chrome, executable: findChrome(chrome.executable) });
  });
  after(() => pressroom.stop());

  const wants = (test: Mocha.Context, ...names: string[]) => {
    const without = missing.filter(({ name }) => names.includes(name));
    if (without.length > 0)
      skip(
        test,
        without
          .map(({ name, fontPackage }) => `no font for ${name} is here (${fontPackage})`)
          .join(', '),
      );
  };
  const print = (body: string, head = '') => pressroom.pdf({ html: html(body, head) });

  for (const { name, sample } of SCRIPTS)
    it(`can be ${name}, with its font in the PDF`, async function () {
      wants(this, name);
      const pdf = await print(`<p>${sample}</p>`);
      expect(letters(await pdfText(pdf))).to.equal(letters(sample));
      const fonts = await pdfFonts(pdf);
      expect(fonts.length).to.be.greaterThan(0);
      expect(fonts.filter(({ embedded }) => !embedded)).to.deep.equal([]);
    });

  it('runs from right to left where it should', async function () {
    wants(this, 'Hebrew', 'Arabic');
    const pdf = await print('<div dir=rtl><p>ראשון שני שלישי</p></div><p>LEFT</p>');
    const words = await pdfWords(pdf);
    const at = (part: RegExp) => words.find(({ text }) => part.test(text))!.xMm;
    expect(at(/ראשון|ןושאר/)).to.be.greaterThan(at(/שלישי|ישילש/));
    expect(at(/שלישי|ישילש/)).to.be.greaterThan(105);
    expect(at(/LEFT/)).to.be.lessThan(50);
  });

  it('mixes directions in one line', async function () {
    wants(this, 'Hebrew');
    const words = await pdfWords(await print('<p dir=rtl>מחיר PRICE TODAY היום</p>'));
    const at = (part: RegExp) => words.find(({ text }) => part.test(text))!.xMm;
    const positions = [/היום|םויה/, /PRICE/, /TODAY/, /מחיר|ריחמ/].map(at);
    expect(positions).to.deep.equal([...positions].sort((one, other) => one - other));
  });

  it('joins Arabic letters', async function () {
    wants(this, 'Arabic');
    const joined = await pdfImage(await print('<p style="font-size:60px">ببب</p>'));
    const apart = await pdfImage(await print('<p style="font-size:60px">ب\u200cب\u200cب</p>'));
    expect(joined.equals(apart)).to.equal(false);
  });

  it('has the shapes of its language where Chinese and Japanese share a character', async function () {
    wants(this, 'Japanese', 'simplified Chinese');
    const looks = await Promise.all(
      ['ja', 'zh-Hans', 'zh-Hant'].map(async lang =>
        pdfPixels(await print(`<p lang=${lang} style="font-size:60px">直骨角</p>`)),
      ),
    );
    expect(new Set(looks).size).to.equal(3);
  });

  it('can be vertical', async function () {
    wants(this, 'Japanese');
    const pdf = await print('<p style="writing-mode:vertical-rl;height:100px">日本語の縦書き</p>');
    expect(letters(await pdfText(pdf))).to.include('日本語');
  });

  it('has emoji in colour, also those put together from several', async function () {
    wants(this, 'emoji');
    const colours = (pixels: Buffer) => {
      let count = 0;
      for (let i = 0; i + 2 < pixels.length; i += 3)
        if (
          Math.max(pixels[i]!, pixels[i + 1]!, pixels[i + 2]!) -
            Math.min(pixels[i]!, pixels[i + 1]!, pixels[i + 2]!) >
          60
        )
          count++;
      return count;
    };
    for (const emoji of ['😀', '👩‍🚀', '🇩🇪', '👍🏽'])
      expect(
        colours(await pdfImage(await print(`<p style="font-size:60px">${emoji}</p>`))),
        emoji,
      ).to.be.greaterThan(50);
  });

  it('draws each sample with letters, not with empty boxes', async function () {
    wants(this, ...SCRIPTS.map(({ name }) => name));
    const boxes = async (text: string) =>
      pdfImage(await print(`<p style="font-size:60px">${text}</p>`));
    for (const { name, sample } of SCRIPTS) {
      const [letter] = [...sample];
      expect((await boxes(letter!)).equals(await boxes('\u{10FFFD}')), name).to.equal(false);
    }
  });
});
