import { inflateSync } from 'node:zlib';
import { expect } from 'chai';
import { DOCUMENTS, documents, jobs } from '../../../bench/documents.ts';
import { png } from '../../../bench/picture.ts';
import { everyProcess, type LivingProcess, treeOf } from '../../support/processes.ts';

describe('benchmark documents', () => {
  for (const name of DOCUMENTS)
    it(`are deterministic and differ by seed: ${name}`, () => {
      const [first, second] = jobs(name, 'html', 2, '').map(({ source }) => source);
      expect(first).to.not.deep.equal(second);
      expect(jobs(name, 'html', 1, '')[0]!.source).to.deep.equal(first);
    });

  it('are self-contained as HTML, and load files by URL', () => {
    const { html } = jobs('report', 'html', 1, '')[0]!.source as { html: string };
    const loaded = [...html.matchAll(/(?:src="|url\()([^")]{0,30})/g)].map(([, start]) => start!);
    expect(loaded).to.have.length(20 + 2);
    expect(loaded.filter(start => !start.startsWith('data:'))).to.deep.equal([]);
    expect(jobs('report', 'url', 1, 'http://127.0.0.1:1')[0]!.source).to.deep.equal({
      url: 'http://127.0.0.1:1/report?seed=1',
    });
    expect(documents.report.html(1, name => `/report/${name}`)).to.include('src="/report/0.png"');
  });

  it('contain valid PNG images', () => {
    const file = png(2, 1, x => [x, 20, 30]);
    expect(file.toString('latin1', 1, 4)).to.equal('PNG');
    const at = file.indexOf('IDAT');
    const length = file.readUInt32BE(at - 4);
    expect([...inflateSync(file.subarray(at + 4, at + 4 + length))]).to.deep.equal([
      0, 0, 20, 30, 1, 20, 30,
    ]);
  });
});

describe('benchmark process tree', () => {
  const living = (pid: number, parent: number): LivingProcess => ({
    pid,
    parent,
    program: 'other',
    isZombie: false,
    policy: 0,
    ownMs: 0,
    reapedMs: 0,
  });

  it('contains all descendants of a process in any listing order', () => {
    const all = [living(9, 8), living(8, 5), living(5, 1), living(7, 1), living(6, 5)];
    expect(treeOf(5, all).map(({ pid }) => pid)).to.deep.equal([9, 8, 5, 6]);
  });

  it('is read from the system with parents and CPU times', function () {
    if (process.platform !== 'linux') this.skip();
    const own = everyProcess().find(({ pid }) => pid === process.pid)!;
    expect(own).to.deep.include({ parent: process.ppid, program: 'node' });
    expect(own.ownMs).to.be.greaterThan(0);
  });
});
