// The side that is the whole service: API, worker with its Chrome, and mongod, each a process of
// its own, called over HTTP from here.
import { Agent } from 'node:http';
import { availableParallelism } from 'node:os';
import { findOrInstallChrome } from '../standalone/chrome.ts';
import { startSite } from '../test/fault/harness/site.ts';
import { renderCall } from '../test/support/http-call.ts';
import { readWorkerConfig } from '../worker/config.ts';
import { beginningsOf, closedLoop } from './closed-loop.ts';
import { jobs } from './documents.ts';
import { pagesOf } from './page-count.ts';
import type { PageServer } from './page-server.ts';
import type { Side } from './side.ts';

/** Room for all callers: what waits is to wait in the queue. */
const PLAN = 'scale';
const PARALLEL = 64;
/** How Pressroom's Chrome is started must be the same here as at the other sides. */
const PASSED_ON = ['PRESSROOM_CHROME_SANDBOX', 'PRESSROOM_CHROME_UID'];

export async function openPressroom(pages: PageServer): Promise<Side> {
  const slots = Math.max(2, availableParallelism());
  const reach = { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${pages.port}` };
  const passedOn = Object.fromEntries(
    PASSED_ON.flatMap(name => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  const chrome = await findOrInstallChrome(
    process.env,
    console.log,
    readWorkerConfig(process.env).chrome.uid,
  );
  const site = await startSite({
    apis: 1,
    workers: 1,
    slots,
    api: { ...reach, PRESSROOM_PLANS: `${PLAN}=${PARALLEL}` },
    worker: { ...reach, ...passedOn, PRESSROOM_CHROME: chrome },
  });
  // A socket that idles is given up before the service does so: a render sent at that moment would
  // fail.
  const agent = new Agent({ keepAlive: true, timeout: 1_000 });
  const processes = [...site.apis, ...site.workers].map(({ process }) => process);
  const close = async () => {
    agent.destroy();
    // Asked politely, a worker removes its Chrome's folder.
    await Promise.all(processes.map(process => process.kill('SIGTERM')));
    await site.stop();
  };
  try {
    const { key } = await site.account(PLAN);
    const { version } = await site.workers[0]!.process.said('chrome is up');
    const { port } = site.apis[0]!;
    let prepared: { body: string; pages: number }[] = [];

    async function render(nth: number): Promise<void> {
      const { body, pages } = prepared[nth % prepared.length]!;
      const answer = await renderCall(port, key, body, {}, agent);
      if (answer.status !== 200)
        throw new Error(`pressroom answered ${answer.status}: ${answer.body.toString()}`);
      const printed = pagesOf(answer.body);
      if (printed !== pages)
        throw new Error(`pressroom printed ${printed} pages of a document of ${pages}`);
    }

    return {
      name: 'pressroom',
      version: String(version),
      slots,
      roots: {
        api: processes[0]!.pid,
        worker: processes[1]!.pid,
        mongod: site.cluster.members[0]!.pid,
      },
      prepare: async ({ document, by, callers, renders, stamped }) => {
        prepared = jobs(document, by, Math.min(beginningsOf(renders, callers), 64), pages.base).map(
          ({ source, until, pages }) => ({
            body: JSON.stringify({
              ...source,
              ...(until && { wait_for_expression: until }),
              ...(stamped && { sandbox: true }),
            }),
            pages,
          }),
        );
      },
      run: ({ renders, callers }) => closedLoop(renders, callers, render),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
