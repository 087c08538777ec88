import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { dynamicReason } from '../../../api/page/static-document.ts';
import type { Session } from '../../../api/workers/session.ts';
import { EGRESS_DENIED } from '../../../common/protocol.ts';
import { createChance } from '../../fault/harness/random.ts';
import { fuzzedDocument } from '../../support/pages/fuzzed-documents.ts';
import {
  DYNAMIC_DOCUMENTS,
  STATIC_DOCUMENTS,
  withTargets,
} from '../../support/pages/static-documents.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

/** PRESSROOM_FUZZ_DOCUMENTS and PRESSROOM_FUZZ_SEED set others. */
const FUZZED = Number(process.env.PRESSROOM_FUZZ_DOCUMENTS ?? 500);
const SEED = Number(process.env.PRESSROOM_FUZZ_SEED ?? 33);
/** A page grows with each document, so a session is replaced after this many. */
const PER_SESSION = 100;
/** Each takes a session, and the share that is noticed needs only a sample. */
const SAMPLED_EACH = 4;
/** Time for requests that a document starts after its load event. */
const LATE_MS = 300;

describe('documents that are taken for static, in a page with scripts and network', function () {
  this.timeout(900_000);
  let worker: TestWorker;
  let server: Server;
  let host: string;
  /** What documents tried: requests, blocked ones, and code. */
  let attempts: string[] = [];

  before(async () => {
    server = createServer((request, response) => {
      attempts.push(`request: ${request.url}`);
      response.end();
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    worker = await startWorker({
      PRESSROOM_SLOTS: '1',
      PRESSROOM_EGRESS_ALLOW: host,
      PRESSROOM_EGRESS_MAX_REQUESTS: '100000',
    });
  });
  after(async () => {
    await worker.stop();
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    attempts = [];
  });

  async function withSession<T>(work: (session: Session) => Promise<T>): Promise<T> {
    await worker.until({ ready: 1 });
    const session = await worker.open({ maxMs: 600_000, egress: 'intranet' });
    session.on(EGRESS_DENIED, ({ host, reason }) => attempts.push(`blocked: ${host} ${reason}`));
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }
  const print = async (session: Session, document: string) => {
    const html = withTargets(document, host, "document.documentElement.setAttribute('leaked','')");
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html });
    await session.command('Page.printToPDF', {});
    const { result } = await session.command('Runtime.evaluate', {
      expression: `document.documentElement?.hasAttribute('leaked')`,
    });
    if (result.value) attempts.push('code');
  };
  const late = () => new Promise(resolve => setTimeout(resolve, LATE_MS));

  async function printAll(documents: readonly string[]): Promise<void> {
    for (let at = 0; at < documents.length; at += PER_SESSION)
      await withSession(async session => {
        for (const html of documents.slice(at, at + PER_SESSION)) {
          await print(session, html);
          if (attempts.length > 0) throw new Error(`${attempts} in or before ${html}`);
        }
        await late();
      });
    expect(attempts).to.deep.equal([]);
  }

  it('load nothing and run nothing: the corpus', () => printAll(STATIC_DOCUMENTS));

  it(`load nothing and run nothing: ${FUZZED} generated ones`, async () => {
    const chance = createChance(SEED);
    const documents: string[] = [];
    let judged = 0;
    while (documents.length < FUZZED) {
      judged++;
      const html = fuzzedDocument(chance);
      if (dynamicReason(withTargets(html, host, 'leak()')) === undefined) documents.push(html);
    }
    // Neither is all static, nor is the generator only noise.
    expect(FUZZED / judged).to.be.within(0.03, 0.5);
    await printAll(documents);
  });

  it('would be noticed: most dynamic documents of the corpus load or run something', async () => {
    let noticed = 0;
    const documents = DYNAMIC_DOCUMENTS.filter((_, at) => at % SAMPLED_EACH === 0);
    for (const html of documents) {
      attempts = [];
      await withSession(async session => {
        await print(session, html).catch(() => {});
        if (attempts.length === 0) await new Promise(resolve => setTimeout(resolve, 50));
      });
      if (attempts.length > 0) noticed++;
    }
    console.log(`      ${noticed} of ${documents.length} dynamic documents were noticed.`);
    expect(noticed).to.be.greaterThan(0.4 * documents.length);
  });
});
