import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pdfFilename } from '../../../../api/pdf/filename.ts';

const NAMES: [title: string | undefined, name: string][] = [
  [undefined, 'render.pdf'],
  ['', 'render.pdf'],
  ['Invoice 42', 'Invoice 42.pdf'],
  ['Invoice 42.PDF', 'Invoice 42.pdf'],
  ['Größe 請求書', 'Größe 請求書.pdf'],
  ['../../etc/passwd', 'etc-passwd.pdf'],
  ['a"; filename="b\r\nX: y', 'a- filename-b-X- y.pdf'],
  ['\u202Efdp.exe', 'fdp.exe.pdf'],
  ["Smith & Co. (3) 20 € [paid], 'a'+c@d", "Smith & Co. (3) 20 € [paid], 'a'+c@d.pdf"],
  ['50% <b>a:b|c?*', '50- -b-a-b-c.pdf'],
  ['con', 'render.pdf'],
  ['lpt1.txt', 'render.pdf'],
  ['...', 'render.pdf'],
  ['🖨', 'render.pdf'],
  ['\uD800', 'render.pdf'],
  ['x'.repeat(500), `${'x'.repeat(80)}.pdf`],
];

describe('the file name of a PDF', () => {
  for (const [title, name] of NAMES)
    it(`is ${JSON.stringify(name)} for ${JSON.stringify(title?.slice(0, 40))}`, () =>
      expect(pdfFilename(title)).to.equal(name));

  it('is render.pdf by default in code and documentation', () => {
    const root = fileURLToPath(new URL('../../../..', import.meta.url));
    const folders = ['README.md', 'api', 'charts', 'cli', 'dashboard', 'standalone'];
    const files = execFileSync('git', ['ls-files', '--', ...folders], {
      cwd: root,
      encoding: 'utf8',
    })
      .trim()
      .split('\n');
    const others = files
      .filter(file => existsSync(`${root}/${file}`))
      .filter(file =>
        /\b(document|page|hello)\.pdf\b/.test(readFileSync(`${root}/${file}`, 'utf8')),
      );
    expect(others).to.deep.equal([]);
  });
});
