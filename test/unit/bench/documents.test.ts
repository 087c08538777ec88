import { inflateSync } from 'node:zlib';
import { expect } from 'chai';
import { DOCUMENTS, documents, jobs } from '../../../bench/documents.ts';
import { png } from '../../../bench/picture.ts';
import { everyProcess, type LivingProcess, treeOf } from '../../support/processes.ts';

describe('the documents of the bench', () => {
  for (const name of DOCUMENTS)
    it(`are other texts for each seed, and the same ones each time: ${name}`, () => {
      const [first, second] = jobs(name, 'html', 2, '').map(({ source }) => source);
      expect(first).to.not.deep.equal(second);
      expect(jobs(name, 'html', 1, '')[0]!.source).to.deep.equal(first);
    });

  it('have all they need in them as html, and load it by url', () => {
    const { html } = jobs('report', 'html', 1, '')[0]!.source as { html: string };
    const loaded = [...html.matchAll(/(?:src="|url\()([^")]{0,30})/g)].map(([, start]) => start!);
    expect(loaded).to.have.length(20 + 2);
    expect(loaded.filter(start => !start.startsWith('data:'))).to.deep.equal([]);
    expect(jobs('report', 'url', 1, 'http://127.0.0.1:1')[0]!.source).to.deep.equal({
      url: 'http://127.0.0.1:1/report?seed=1',
    });
    expect(documents.report.html(1, name => `/report/${name}`)).to.include('src="/report/0.png"');
  });

  it('draw pictures that are PNG files', () => {
    const file = png(2, 1, x => [x, 20, 30]);
    expect(file.toString('latin1', 1, 4)).to.equal('PNG');
    const at = file.indexOf('IDAT');
    const length = file.readUInt32BE(at - 4);
    expect([...inflateSync(file.subarray(at + 4, at + 4 + length))]).to.deep.equal([
      0, 0, 20, 30, 1, 20, 30,
    ]);
  });
});

describe('the processes that the bench counts', () => {
  const living = (pid: number, parent: number): LivingProcess => ({
    pid,
    parent,
    program: 'other',
    isZombie: false,
    policy: 0,
    ownMs: 0,
    reapedMs: 0,
  });

  it('are all that descend from one, however far and in whichever order they are listed', () => {
    const all = [living(9, 8), living(8, 5), living(5, 1), living(7, 1), living(6, 5)];
    expect(treeOf(5, all).map(({ pid }) => pid)).to.deep.equal([9, 8, 5, 6]);
  });

  it('are read from the system with their parents and their time', function () {
    if (process.platform !== 'linux') this.skip();
    const own = everyProcess().find(({ pid }) => pid === process.pid)!;
    expect(own).to.deep.include({ parent: process.ppid, program: 'node' });
    expect(own.ownMs).to.be.greaterThan(0);
  });
});
