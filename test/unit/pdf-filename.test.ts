import { expect } from 'chai';
import { pdfFilename } from '../../api/console/documents/filename.ts';

const NAMES: [title: string | undefined, name: string][] = [
  [undefined, 'document.pdf'],
  ['', 'document.pdf'],
  ['Invoice 42', 'Invoice 42.pdf'],
  ['Invoice 42.PDF', 'Invoice 42.pdf'],
  ['Größe 請求書', 'Größe 請求書.pdf'],
  ['../../etc/passwd', 'etc-passwd.pdf'],
  ['a"; filename="b\r\nX: y', 'a- filename-b-X- y.pdf'],
  ['\u202Efdp.exe', 'fdp.exe.pdf'],
  ['con', 'document.pdf'],
  ['lpt1.txt', 'document.pdf'],
  ['...', 'document.pdf'],
  ['🖨', 'document.pdf'],
  ['\uD800', 'document.pdf'],
  ['x'.repeat(500), `${'x'.repeat(80)}.pdf`],
];

describe('the name of a PDF', () => {
  for (const [title, name] of NAMES)
    it(`is ${JSON.stringify(name)} for ${JSON.stringify(title?.slice(0, 40))}`, () => expect(pdfFilename(title)).to.equal(name));
});
