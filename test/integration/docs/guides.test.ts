// Runs each example of docs/guides on a real installation: `sh` and `js` blocks as programs, `json`
// and `html` blocks as requests. A `json` block with `error` is the response to the block before.

import { globSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { runCommand } from '../../../standalone/run-command.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfInfo, pdfText } from '../../support/pdf.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const GUIDES = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));
const RUN_MS = 30_000;

interface Block {
  guide: string;
  heading: string;
  language: string;
  text: string;
  /** The error that the block must cause. */
  error?: Record<string, unknown>;
}

interface Expected {
  pages?: number;
  text?: string[];
  absent?: string[];
}

/** What the PDFs under a heading contain. */
const EXPECTED: Record<string, Expected> = {
  'quick-start: Render HTML': { text: ['Invoice 42'] },
  'quick-start: Test without counting': { text: ['Invoice 42'] },
  'headers-and-page-numbers: Page numbers': { pages: 2, text: ['Page 1 of 2', 'Page 2 of 2'] },
  'headers-and-page-numbers: Style': { text: ['ACME', 'Invoice 42'] },
  'page-breaks: Start a new page': { pages: 3 },
  'page-breaks: Keep content together': { pages: 2, text: ['Position', 'Five'] },
  'page-breaks: Print and screen styles': { text: ['On the screen only'] },
  'page-breaks: Add CSS to a page that you cannot change': { absent: ['Menu'] },
  'page-breaks: One tall page': { pages: 1, text: ['Receipt'] },
  'single-page-apps: Wait for an element': { text: ['Report'] },
  'single-page-apps: Wait for an expression': { text: ['Report'], absent: ['Loading'] },
  'limits-and-retries: A program that retries': { text: ['Invoice 42'] },
};
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
    else if (language === 'json' && text!.includes('"error"'))
      blocks.at(-1)!.error = (JSON.parse(text!) as { error: Block['error'] }).error!;
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
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation();
  });
  after(() => pressroom.stop());

  async function run(block: Block, index: number) {
    const folder = at(String(index));
    await mkdir(folder);
    const isShell = block.language === 'sh';
    const file = `${folder}/${isShell ? 'example.sh' : 'example.mjs'}`;
    await writeFile(file, block.text.replaceAll('http://localhost:8080', pressroom.url));
    const ran = await runCommand(isShell ? 'sh' : process.execPath, [file], {
      timeoutMs: RUN_MS,
      cwd: folder,
      env: { ...process.env, PRESSROOM_KEY: pressroom.key, NO_PROXY: '*', no_proxy: '*' },
    });
    expect(ran.ok, ran.why).to.equal(true);
    if (block.error) return { error: (JSON.parse(ran.stdout) as { error: object }).error };
    const [pdf] = globSync(`${folder}/*.pdf`);
    return { pdf: await readFile(pdf!) };
  }

  async function request(block: Block) {
    const body = block.language === 'html' ? { html: block.text } : JSON.parse(block.text);
    const answer = await pressroom.render(body);
    return answer.status === 200 ? { pdf: answer.body } : { error: answer.error() };
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
      const { pdf, error } = (await (isProgram ? run(block, index) : request(block))) as {
        pdf?: Buffer;
        error?: Record<string, unknown>;
      };
      const reason = FAILS[titleOf(block)];
      if (reason !== undefined) return void expect(error).to.include({ reason });
      if (block.error) {
        const { request_id: _, ...wanted } = block.error;
        return void expect(error).to.include(wanted);
      }
      expect(error).to.equal(undefined);
      const { pages, text = [], absent = [] } = EXPECTED[titleOf(block)] ?? {};
      if (pages !== undefined) expect((await pdfInfo(pdf!)).pages).to.equal(pages);
      const printed = await pdfText(pdf!);
      for (const part of text) expect(printed).to.include(part);
      for (const part of absent) expect(printed).not.to.include(part);
    });
});
