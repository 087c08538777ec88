// Runs each example of docs/guides on a real installation: `sh` and `js` blocks as programs, `json`
// and `html` blocks as requests. A `json` block without `html` and `url` is the response to the block
// before. https://example.com/ is a web server of the test.

import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../../standalone/run-command.ts';
import { asyncClient, batchClient } from '../../support/async-fixture.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfFonts, pdfInfo, pdfText } from '../../support/pdf.ts';
import { PRESSROOM_PROGRAM } from '../../support/run-program.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const GUIDES = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));
const RUN_MS = 30_000;

interface Block {
  guide: string;
  heading: string;
  language: string;
  text: string;
  /** What the guide shows as the response. */
  response?: Record<string, unknown>;
}

interface Expected {
  pages?: number;
  text?: string[];
  absent?: string[];
  /** How often a text is printed. */
  times?: Record<string, number>;
  fonts?: string[];
  sizeMm?: [number, number];
  /** Of the program. */
  output?: string[];
}

/** What the PDFs under a heading contain. */
const EXPECTED: Record<string, Expected> = {
  'quick-start: Render HTML': { text: ['Invoice 42'] },
  'quick-start: Render a URL': { text: ['Invoice by URL'] },
  'quick-start: Test without counting': { text: ['Invoice 42'] },
  'fonts-and-languages: Installed fonts': { fonts: ['LiberationSans'] },
  'fonts-and-languages: Use your own font': { fonts: ['LiberationMono-Bold'] },
  'fonts-and-languages: Load a font by URL': { fonts: ['LiberationMono-Bold'] },
  'fonts-and-languages: Right to left': { text: ['42', '3.50'] },
  'headers-and-page-numbers: Page numbers': { pages: 2, text: ['Page 1 of 2', 'Page 2 of 2'] },
  'headers-and-page-numbers: Style': { text: ['ACME', 'Invoice 42'] },
  'page-breaks: Start a new page': { pages: 3 },
  'page-breaks: Keep content together': { times: { Position: 2, Five: 1 } },
  'page-breaks: Print a box with a scroll bar': { text: ['One', 'Three'] },
  'page-breaks: Paper size in CSS': { pages: 2, sizeMm: [148, 210] },
  'page-breaks: Repeat an element on every page': { pages: 2, times: { DRAFT: 2 } },
  'page-breaks: Print and screen styles': { text: ['On the screen only'] },
  'page-breaks: Add CSS to a page that you cannot change': { absent: ['Menu'] },
  'page-breaks: One tall page': { pages: 1, text: ['Receipt'] },
  'single-page-apps: Wait for an element': { text: ['Report'] },
  'single-page-apps: Wait for an expression': { text: ['Report'], absent: ['Loading'] },
  'single-page-apps: Run a script first': { text: ['Details'] },
  'images: Images that do not load': { output: ['X-Resource-Errors: 1\r\n'] },
  'limits-and-retries: A program that retries': { text: ['Invoice 42'] },
  'async-renders: Download the PDF': { text: ['Invoice 42'], output: ['"status":"succeeded"'] },
  'async-renders: Cancel a render': { output: ['"status":"canceled"'] },
  'async-renders: Use the command line': { text: ['Invoice 42'] },
  'async-renders: Render a file of requests': { text: ['Invoice'] },
  'async-renders: A program that waits': { text: ['Invoice 42'] },
};
/** A font that no example falls back to. */
const FONT = ['liberation', 'liberation2']
  .map(folder => `/usr/share/fonts/truetype/${folder}/LiberationMono-Bold.ttf`)
  .find(existsSync);
/** The files that programs read. */
const FILES: Record<string, string> = { 'brand.ttf': FONT! };
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';
/** Headings whose example fails, with the reason. */
const FAILS: Record<string, string> = {
  'single-page-apps: When a wait does not end': 'page_timeout',
  'images: Make a missing image an error': 'page_status',
};

function blocksOf(guide: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let heading = '';
  for (const [, title, language, text] of markdown.matchAll(
    /^#+ (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm,
  )) {
    if (title !== undefined) heading = title;
    else if (language === 'json' && !/"(html|url)":/.test(text!))
      blocks.at(-1)!.response = JSON.parse(text!) as Record<string, unknown>;
    else if (language !== 'text') blocks.push({ guide, heading, language: language!, text: text! });
  }
  return blocks;
}

const blocks = readdirSync(GUIDES).flatMap(file =>
  blocksOf(file.replace(/\.md$/, ''), readFileSync(`${GUIDES}${file}`, 'utf8')),
);
const titleOf = ({ guide, heading }: Block) => `${guide}: ${heading}`;

describe('the guides', function () {
  this.timeout(RUN_MS + 5_000);
  const at = temporaryFolder();
  let web: WebServer;
  let pressroom: Installation;
  before(async () => {
    await mkdir(at('bin'));
    await symlink(PRESSROOM_PROGRAM, at('bin/pressroom'));
    web = await startWebServer({
      '/invoice/42': '<h1>Invoice by URL</h1>',
      '/logo.svg': (_, response) =>
        response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(SVG),
      '/brand.ttf': (_, response) =>
        response
          .writeHead(200, { 'content-type': 'font/ttf', 'access-control-allow-origin': '*' })
          .end(readFileSync(FONT!)),
    });
    pressroom = await installation({
      intranet: true,
      env: {
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
        // With the dashboard, which records the usage.
        PRESSROOM_SECRET: 'a secret of the dashboard',
        PRESSROOM_ASYNC: 'on',
      },
    });
  });
  after(async () => {
    await pressroom.stop();
    await web.close();
  });

  /**
   * The environment of a program. `ID` is an asynchronous render that has not ended, `BATCH` a batch
   * of one.
   */
  async function environment({ text }: Block) {
    const env = {
      ...process.env,
      PATH: `${at('bin')}:${process.env['PATH']}`,
      PRESSROOM_KEY: pressroom.key,
      NO_PROXY: '*',
      no_proxy: '*',
    };
    const slow = { html: '<h1>Invoice 42</h1>', wait_delay: '2s' };
    if (text.includes('$BATCH')) {
      const client = batchClient(pressroom.api.port(), pressroom.key);
      return { ...env, BATCH: (await client.submit(JSON.stringify(slow))).id };
    }
    if (!text.includes('$ID')) return env;
    const client = asyncClient(pressroom.api.port(), pressroom.key);
    return { ...env, ID: (await client.submit(slow)).id };
  }

  async function run(block: Block, index: number) {
    const folder = at(String(index));
    await mkdir(folder);
    const isShell = block.language === 'sh';
    for (const [name, from] of Object.entries(FILES)) await copyFile(from, `${folder}/${name}`);
    const file = `${folder}/${isShell ? 'example.sh' : 'example.mjs'}`;
    await writeFile(file, block.text.replaceAll('http://localhost:8080', pressroom.url));
    const ran = await runCommand(isShell ? 'sh' : process.execPath, [file], {
      timeoutMs: RUN_MS,
      cwd: folder,
      env: await environment(block),
    });
    expect(ran.ok, ran.why).to.equal(true);
    for (const part of EXPECTED[titleOf(block)]?.output ?? []) expect(ran.stdout).to.include(part);
    const [pdf] = globSync(`${folder}/**/*.pdf`);
    // curl writes no line feed between two responses.
    const responses = pdf ? [] : JSON.parse(`[${ran.stdout.replaceAll('}{', '},{')}]`);
    return pdf ? { pdf: await readFile(pdf) } : { response: responses.at(-1) };
  }

  async function request(block: Block) {
    const text = block.text.replaceAll('https://example.com', `http://127.0.0.1:${web.port}`);
    const answer = await pressroom.render(
      block.language === 'html' ? { html: text } : JSON.parse(text),
    );
    if (answer.status !== 200) return { response: JSON.parse(answer.body.toString()) };
    expect(answer.headers['x-resource-errors']).to.equal(undefined);
    return { pdf: answer.body };
  }

  /** Values of an error, but only the names of other members, whose values are examples. */
  function isAsShown(response: Record<string, unknown>, shown: Record<string, unknown>) {
    if (!shown['error']) return void expect(response).to.have.all.keys(Object.keys(shown));
    const { request_id: _, ...wanted } = shown['error'] as Record<string, unknown>;
    expect(response['error']).to.include(wanted);
  }

  async function isExpected(pdf: Buffer, expected: Expected) {
    const { pages, text = [], absent = [], times = {}, fonts = [], sizeMm } = expected;
    const info = await pdfInfo(pdf);
    if (pages !== undefined) expect(info.pages).to.equal(pages);
    if (sizeMm) expect([Math.round(info.widthMm), Math.round(info.heightMm)]).to.eql(sizeMm);
    const printed = await pdfText(pdf);
    for (const part of text) expect(printed).to.include(part);
    for (const part of absent) expect(printed).not.to.include(part);
    for (const [part, count] of Object.entries(times))
      expect(printed.split(part)).to.have.length(count + 1);
    const used = (await pdfFonts(pdf)).map(({ name }) => name.replace(/^\w+\+/, ''));
    for (const font of fonts) expect(used).to.include(font);
  }

  it('have headings for all expected results', () => {
    const titles = blocks.map(titleOf);
    expect(
      [...Object.keys(EXPECTED), ...Object.keys(FAILS)].filter(title => !titles.includes(title)),
    ).to.deep.equal([]);
    expect(blocks.map(({ language }) => language)).to.include.members(['sh', 'json', 'html', 'js']);
  });

  for (const [index, block] of blocks.entries())
    it(`have a working example ${index + 1}, in ${titleOf(block)}`, async () => {
      const isProgram = block.language === 'sh' || block.language === 'js';
      if (!isProgram) expect(block.language).to.be.oneOf(['json', 'html']);
      const { pdf, response } = (await (isProgram ? run(block, index) : request(block))) as {
        pdf?: Buffer;
        response?: Record<string, unknown>;
      };
      const reason = FAILS[titleOf(block)];
      if (reason !== undefined) return void expect(response?.['error']).to.include({ reason });
      if (block.response) return isAsShown(response!, block.response);
      expect(pdf ?? response).not.to.have.property('error');
      if (pdf) await isExpected(pdf, EXPECTED[titleOf(block)] ?? {});
    });
});
