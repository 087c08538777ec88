import { expect } from 'chai';
import { pagesOf } from '../../../bench/page-count.ts';

const pdf = (...lines: string[]) =>
  Buffer.from(['%PDF-1.4', ...lines, 'startxref', '9', '%%EOF'].join('\n'), 'latin1');

describe('benchmark page count', () => {
  it('is that of the root of the page tree', () => {
    const tree = [
      '<</Type /Pages /Count 8 /Parent 1 0 R>>',
      '<</Type /Pages /Count 300 /Kids [2 0 R]>>',
      '<</Type /Pages /Count 4>>',
    ];
    expect(pagesOf(pdf(...tree))).to.equal(300);
  });

  it('is 0 for an incomplete or invalid PDF', () => {
    const whole = pdf('<</Type /Pages /Count 2>>');
    expect(pagesOf(whole)).to.equal(2);
    expect(pagesOf(whole.subarray(1))).to.equal(0);
    expect(pagesOf(whole.subarray(0, whole.length - 5))).to.equal(0);
    expect(pagesOf(Buffer.from('{"error":{}}'))).to.equal(0);
  });
});
