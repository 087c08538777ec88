import { expect } from 'chai';
import { evaluate, startWorker, type TestWorker } from '../support/worker.ts';

describe('a download that a page starts', function () {
  this.timeout(60_000);
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker();
  });
  after(() => worker.stop());

  it('is cancelled by Chrome before a byte of it is kept', async () => {
    const session = await worker.open();
    const over = Promise.withResolvers<{ state: string; receivedBytes: number }>();
    session.on('Page.downloadProgress', progress => progress.state !== 'inProgress' && over.resolve(progress));
    await evaluate(
      session,
      `const a = document.createElement('a');
       a.href = URL.createObjectURL(new Blob(['x'.repeat(1e6)]));
       a.download = 'file.bin';
       a.click();`,
    );
    expect(await over.promise).to.include({ state: 'canceled' });
    session.close();
  });
});
