import { expect } from 'chai';
import { eventOf } from '../../../worker/browser/cdp-pipe.ts';
import { evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

describe('a download that a page starts', () => {
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker();
  });
  after(() => worker.stop());

  it('is cancelled by Chrome before a byte of it is kept', async () => {
    const session = await worker.open();
    const over = Promise.withResolvers<{ state: string; receivedBytes: number }>();
    // An API does not hear of it: a second session of the worker's own Chrome does.
    const { pipe } = worker.worker.chromes()[0]!;
    const { sessionId } = await pipe.command<{ sessionId: string }>('Target.attachToTarget', {
      targetId: session.frameId,
      flatten: true,
    });
    pipe.route(sessionId, frame => {
      if (eventOf(frame) !== 'Page.downloadProgress') return;
      const { params } = JSON.parse(frame.toString());
      if (params.state !== 'inProgress') over.resolve(params);
    });
    await pipe.command('Page.enable', {}, sessionId);
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
