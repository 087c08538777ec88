import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { chromeProcesses } from '../../fault/harness/chrome-processes.ts';
import { eventually } from '../../support/eventually.ts';
import { memoryContains } from '../../support/process-memory.ts';
import { skip } from '../../support/skip.ts';
import { evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

describe('memory of a render', function () {
  this.timeout(120_000);
  let worker: TestWorker;
  before(async function () {
    if (process.getuid?.() !== 0)
      skip(this, 'Only root may read the memory of Chrome’s processes.');
    worker = await startWorker();
    await worker.until({ ready: 2 });
  });
  after(() => worker?.stop());

  const renderers = () =>
    chromeProcesses(process.pid).flatMap(({ pid, kind }) => (kind === 'renderer' ? [pid] : []));
  /** Two halves, so that no command contains the whole secret. */
  const halves = [randomBytes(12), randomBytes(12)].map(bytes => bytes.toString('hex')) as [
    string,
    string,
  ];
  const text = halves.join('');
  const expected = [Buffer.from(text), Buffer.from(text, 'utf16le')];

  it('frees the memory with the renderer process and shares none of it with later ones', async () => {
    const first = await worker.open();
    await evaluate(
      first,
      `(async () => {
        const mark = ['${halves[0]}', '${halves[1]}'].join('');
        const wide = mark + '\\u4e2d';
        document.body.textContent = mark;
        window.kept = [mark.split('').join(''), wide, new TextEncoder().encode(mark.repeat(1000)), Array.from({ length: 1000 }, (_, i) => mark + i)];
        window.blob = new Blob([mark.repeat(1000)]);
        const context = document.createElement('canvas').getContext('2d');
        context.fillText(mark, 10, 10);
        document.title = mark;
        window.name = mark;
        console.log(mark);
        return window.blob.text();
      })()`,
    );
    await first.command('Page.printToPDF', {});
    const before = renderers();
    const holders = before.filter(pid => memoryContains(pid, expected) > 0);
    expect(holders, 'the search finds the secret while the page is open').to.have.length(1);

    first.close();
    await worker.until({ busy: 0, ready: 2 });
    await eventually(() => expect(renderers()).to.not.include(holders[0]));
    const next = [await worker.open(), await worker.open()];
    for (const session of next) {
      expect(await evaluate(session, `document.body.innerHTML = '<h1>next</h1>'; 1`)).to.equal(1);
      await session.command('Page.printToPDF', {});
    }
    const after = renderers();
    expect(after.length).to.be.greaterThan(1);
    expect(after.filter(pid => memoryContains(pid, expected) > 0)).to.deep.equal([]);
    for (const session of next) session.close();
  });
});
