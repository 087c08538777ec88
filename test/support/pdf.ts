// Reads PDFs with the tools of poppler, which are independent of Chrome and pdf-lib.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

async function withFile<T>(pdf: Buffer, work: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-test-pdf-'));
  try {
    const file = join(folder, 'a.pdf');
    await writeFile(file, pdf);
    return await work(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface PdfInfo {
  pages: number;
  widthMm: number;
  heightMm: number;
  title: string;
  author: string;
  subject: string;
  keywords: string;
  creator: string;
  producer: string;
  created: string;
  tagged: boolean;
}

/** Runs `pdfinfo`. Rejects when the file is not a complete PDF. */
export const pdfInfo = (pdf: Buffer): Promise<PdfInfo> =>
  withFile(pdf, async file => {
    const { stdout } = await run('pdfinfo', [file]);
    const field = (name: string) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(stdout)?.[1] ?? '';
    const [width, height] = /([\d.]+) x ([\d.]+) pts/
      .exec(field('Page size'))!
      .slice(1)
      .map(points => (Number(points) / 72) * 25.4);
    return {
      pages: Number(field('Pages')),
      widthMm: width!,
      heightMm: height!,
      title: field('Title'),
      author: field('Author'),
      subject: field('Subject'),
      keywords: field('Keywords'),
      creator: field('Creator'),
      producer: field('Producer'),
      created: field('CreationDate'),
      tagged: field('Tagged') === 'yes',
    };
  });

/** The size of each page in whole mm, such as `210x297`. */
export const pdfPageSizes = (pdf: Buffer): Promise<string[]> =>
  withFile(pdf, async file => {
    const { stdout } = await run('pdfinfo', ['-l', '-1', file]);
    const mm = (points: string | undefined) => Math.round((Number(points) / 72) * 25.4);
    return [...stdout.matchAll(/^Page\s+\d+ size:\s+([\d.]+) x ([\d.]+) pts/gm)].map(
      ([, width, height]) => `${mm(width)}x${mm(height)}`,
    );
  });

export const pdfText = (pdf: Buffer): Promise<string> =>
  withFile(pdf, async file => (await run('pdftotext', [file, '-'])).stdout);

export interface Word {
  page: number;
  text: string;
  /** From the page's left and top edge. */
  xMm: number;
  yMm: number;
}

/** Every word with its position. */
export const pdfWords = (pdf: Buffer): Promise<Word[]> =>
  withFile(pdf, async file => {
    const { stdout } = await run('pdftotext', ['-bbox', file, '-'], { maxBuffer: 64 * 2 ** 20 });
    const words: Word[] = [];
    let page = 0;
    for (const line of stdout.split('\n')) {
      if (line.includes('<page ')) page++;
      const match = /<word xMin="([\d.-]+)" yMin="([\d.-]+)"[^>]*>([^<]*)</.exec(line);
      if (match)
        words.push({
          page,
          text: match[3]!,
          xMm: (Number(match[1]) / 72) * 25.4,
          yMm: (Number(match[2]) / 72) * 25.4,
        });
    }
    return words;
  });

/** The fonts and whether they are embedded. */
export const pdfFonts = (pdf: Buffer): Promise<{ name: string; embedded: boolean }[]> =>
  withFile(pdf, async file => {
    const { stdout } = await run('pdffonts', [file]);
    return stdout
      .trim()
      .split('\n')
      .slice(2)
      .map(line => ({
        name: line.split(' ')[0]!,
        embedded: / (yes|no) +(?:yes|no) +(?:yes|no) +\d+ +\d+$/.exec(line)?.[1] === 'yes',
      }));
  });

/** The colour of a pixel as `[red, green, blue]`. Position in mm from the top left corner. */
export const pdfColour = (pdf: Buffer, xMm: number, yMm: number, page = 1): Promise<number[]> =>
  withFile(pdf, async file => {
    const dpi = 50;
    const px = (mm: number) => String(Math.round((mm / 25.4) * dpi));
    const args = [
      '-r',
      String(dpi),
      '-f',
      String(page),
      '-l',
      String(page),
      '-x',
      px(xMm),
      '-y',
      px(yMm),
      '-W',
      '1',
      '-H',
      '1',
      file,
    ];
    const { stdout } = await run('pdftoppm', args, { encoding: 'buffer' });
    return [...stdout.subarray(-3)];
  });

/** A hash of the pixels of all pages. */
export const pdfPixels = (pdf: Buffer): Promise<string> =>
  withFile(pdf, async file => {
    const { stdout } = await run('pdftoppm', ['-r', '50', file], {
      encoding: 'buffer',
      maxBuffer: 256 * 2 ** 20,
    });
    return createHash('sha256').update(stdout).digest('hex');
  });

/** The pixels of a page. */
export interface Picture {
  width: number;
  height: number;
  /** `[red, green, blue]` at a position in pixels. */
  at(x: number, y: number): [number, number, number];
}

/** Draws one page. */
export const pdfPicture = (pdf: Buffer, page = 1, dpi = 36): Promise<Picture> =>
  withFile(pdf, async file => {
    const args = ['-r', String(dpi), '-f', String(page), '-l', String(page), file];
    const { stdout } = await run('pdftoppm', args, {
      encoding: 'buffer',
      maxBuffer: 256 * 2 ** 20,
    });
    const [head, width, height] = /^P6\s+(\d+) (\d+)\s+255\s/.exec(
      stdout.toString('latin1', 0, 40),
    )!;
    const at = (x: number, y: number) => {
      const offset = head.length + (y * Number(width) + x) * 3;
      return [...stdout.subarray(offset, offset + 3)] as [number, number, number];
    };
    return { width: Number(width), height: Number(height), at };
  });

/** The pixels of the first page at 50 dpi, three bytes each, row by row. */
export const pdfImage = (pdf: Buffer): Promise<Buffer> =>
  withFile(pdf, async file => {
    const { stdout } = await run('pdftoppm', ['-r', '50', '-l', '1', file], {
      encoding: 'buffer',
      maxBuffer: 64 * 2 ** 20,
    });
    let head = 0;
    for (let lines = 0; lines < 3; head++) if (stdout[head] === 0x0a) lines++;
    return stdout.subarray(head);
  });

/** Whether the first page has no mark. */
export async function isBlank(pdf: Buffer): Promise<boolean> {
  const { width, height, at } = await pdfPicture(pdf);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (at(x, y).some(part => part !== 255)) return false;
  return true;
}
