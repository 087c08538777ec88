// What a worker sends to a page by itself when the page has come so far: on a real Chrome, from an API's session and from a client that is none of ours.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { parseRenderRequest } from '../../api/contract/render-request.ts';
import { converse } from '../../api/render/conversation.ts';
import { plan } from '../../api/render/plan.ts';
import type { Session } from '../../api/render/session.ts';
import { eventually } from '../support/eventually.ts';
import { plainSlot } from '../support/gateway-client.ts';
import { pdfText } from '../support/pdf.ts';
import { PUBLIC } from '../support/refusal.ts';
import { errorOf, startWorker, type TestWorker } from '../support/worker.ts';

describe('what waits at the worker for its page', () => {
  let worker: TestWorker;
  before(async () => {
    worker = await startWorker();
  });
  beforeEach(() => worker.until({ busy: 0, ready: 2 }));
  after(() => worker?.stop());

  /** The PDF, and what was said at once and deferred. */
  async function rendered(request: object, of: (session: Session) => Session = session => session) {
    const session = await eventually(() => worker.open());
    const said: string[] = [];
    const { deferred } = session;
    const heard: Session = {
      ...session,
      command: (method, ...params) => {
        said.push(method);
        return session.command(method, ...params);
      },
      deferred:
        deferred &&
        (until =>
          (method, ...params) => {
            said.push(`${until}: ${method}`);
            return deferred(until)(method, ...params);
          }),
    };
    try {
      const limits = { renderMs: 20_000, output: { maxBytes: 2 ** 24, tagged: false } };
      const room = { take: () => true, give: () => {} };
      const printed = await converse(of(heard), plan(parseRenderRequest(request, PUBLIC)), limits, room, new AbortController().signal, {});
      const bytes = Buffer.concat(printed.pdf.pieces);
      return { text: await pdfText(bytes), pages: printed.pages, said, bytes, tableAt: printed.pdf.tableAt };
    } finally {
      session.close();
    }
  }

  const long = `<p>FIRST</p>${'<p style="break-before:page">x</p>'.repeat(3)}<p>LAST</p>`;

  it('is the whole print of a page in which nothing moves', async () => {
    const { text, pages, said } = await rendered({ html: long });
    expect(text).to.include('FIRST').and.include('LAST');
    expect(pages).to.equal(4);
    expect(said.filter(each => /print|read/i.test(each))).to.deep.equal(['loaded: Page.printToPDF', 'printed: IO.read']);
  });

  it('is the same when every slot is used as soon as it is open', async () => {
    const renders = Array.from({ length: 12 }, (_, nth) => rendered({ html: `<p>NUMBER ${nth}</p>` }));
    const texts = (await Promise.all(renders)).map(({ text }) => text.trim());
    expect(texts).to.deep.equal(Array.from({ length: 12 }, (_, nth) => `NUMBER ${nth}`));
  });

  it('is the first piece of any other PDF', async () => {
    const { text, said } = await rendered({ html: `${long}<script>document.title = 'x'</script>` });
    expect(text).to.include('LAST');
    expect(said.filter(each => /print|read/i.test(each))).to.deep.equal(['Page.printToPDF', 'printed: IO.read']);
  });

  it('is followed by all others, which Chrome ends some bytes early when they could be parts of characters', async () => {
    const noise = `<canvas width="1500" height="1500"></canvas>MIDDLE<script>
      const context = document.querySelector('canvas').getContext('2d');
      const image = context.createImageData(1500, 1500);
      for (let at = 0; at < image.data.length; at += 65536) crypto.getRandomValues(image.data.subarray(at, at + 65536));
      for (let at = 3; at < image.data.length; at += 4) image.data[at] = 255;
      context.putImageData(image, 0, 0);
    </script>`;
    const { bytes, tableAt, text } = await rendered({ html: noise });
    expect(bytes.length).to.be.greaterThan(5 * 2 ** 20);
    expect(bytes.toString('latin1', tableAt, tableAt + 4)).to.equal('xref'); // no byte before it is missing
    expect(text).to.include('MIDDLE');
  });

  it('is nothing for a worker of the release before', async () => {
    const { text, said } = await rendered({ html: long }, ({ deferred: _, ...session }) => session);
    expect(text).to.include('FIRST').and.include('LAST');
    expect(said.filter(each => each.includes(':'))).to.deep.equal([]);
  });

  it('says which pages there are when none of them is wanted', async () => {
    expect(String(await errorOf(rendered({ html: long, pages: '7-9' })))).to.include('`pages` keeps nothing: the document has 4 pages.');
  });

  it('is refused when it is too much, and ends the slot', async () => {
    const slot = await plainSlot(worker);
    const params = { until: 'loaded', method: 'Page.printToPDF', params: {} };
    const ends = await Promise.all(Array.from({ length: 9 }, () => errorOf(slot.command('Pressroom.defer', params))));
    expect(ends.map(String)).to.deep.equal(Array.from({ length: 9 }, () => 'Error: the slot was closed with 4000'));
    await worker.until({ busy: 0 });
  });

  it('is answered with an error when there is no PDF to read', async () => {
    const slot = await plainSlot(worker);
    try {
      const { error } = await slot.command('Pressroom.defer', { until: 'printed', method: 'IO.read', params: { handle: '', size: 10 } });
      expect(error?.message).to.equal('nothing was printed');
      const { error: refused } = await slot.command('Pressroom.defer', { until: 'loaded', method: 'Browser.close' });
      expect(refused?.message).to.include('not allowed');
    } finally {
      await slot.close();
    }
  });

  it('lets short answers wait with it for the load event, and nothing else', async () => {
    const slot = await plainSlot(worker);
    try {
      const stream = { transferMode: 'ReturnAsStream' };
      const printed = slot.command('Pressroom.defer', { until: 'loaded', method: 'Page.printToPDF', params: stream });
      let answered = false;
      const media = slot.command('Emulation.setEmulatedMedia', { media: 'print' }).then(() => {
        answered = true;
      });
      const { result } = await slot.command('Pressroom.ping');
      expect((await slot.command('Page.navigate', { url: 'file:///etc/passwd' })).error).to.include({ code: -32_601 });
      await sleep(300);
      expect(answered).to.equal(false);
      await slot.command('Page.setDocumentContent', { frameId: result!.frameId, html: '<p>Hello' });
      expect(answered).to.equal(true);
      expect((await printed).result).to.have.property('stream');
      await media;
    } finally {
      await slot.close();
    }
  });

  it('lets an answer wait no longer than until Chrome refuses something', async () => {
    const slot = await plainSlot(worker);
    try {
      slot.command('Pressroom.defer', { until: 'loaded', method: 'Page.printToPDF', params: {} }).catch(() => {}); // the slot ends before
      let told: unknown;
      const both = [slot.command('Pressroom.still'), slot.command('Emulation.setEmulatedMedia', { media: 'print' })];
      void Promise.all(both).then(answers => {
        told = answers.map(({ result }) => result);
      });
      // The browser refuses this by itself, maybe before the page has answered.
      await eventually(async () => {
        expect((await slot.command('IO.read', { handle: 'none' })).error?.code).to.equal(-32_602);
        expect(told).to.deep.equal([{}, {}]);
      });
    } finally {
      await slot.close();
    }
  });
});
