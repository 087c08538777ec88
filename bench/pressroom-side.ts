// The side with the complete service: API, worker, Chrome and mongod in their own processes, called
// over HTTP.
import { Agent } from 'node:http';
import { availableParallelism } from 'node:os';
import { findOrInstallChrome } from '../standalone/chrome.ts';
import { startDeployment } from '../test/fault/harness/deployment.ts';
import { createChance } from '../test/fault/harness/random.ts';
import { renderCall } from '../test/support/http-call.ts';
import { readWorkerConfig } from '../worker/config.ts';
import { beginningsOf, closedLoop } from './closed-loop.ts';
import { jobs } from './documents.ts';
import { pagesOf } from './page-count.ts';
import type { PageServer } from './page-server.ts';
import type { Side } from './side.ts';

/** A concurrency limit for all callers, so that renders wait in the queue. */
const PLAN = 'scale';
const PARALLEL = 64;
/** Chrome must start with the same settings on all sides. */
const PASSED_ON = ['PRESSROOM_CHROME_SANDBOX', 'PRESSROOM_CHROME_UID'];

/** `own` overrides the environment of the API. */
export async function openPressroom(
  pages: PageServer,
  own: Record<string, string> = {},
): Promise<Side> {
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
  const deployment = await startDeployment({
    apis: 1,
    workers: 1,
    slots,
    api: { ...reach, PRESSROOM_PLANS: `${PLAN}=${PARALLEL}`, ...own },
    worker: { ...reach, ...passedOn, PRESSROOM_CHROME: chrome },
  });
  // Closes idle sockets before the service does; otherwise a render could fail.
  const agent = new Agent({ keepAlive: true, timeout: 1_000 });
  const processes = [...deployment.apis, ...deployment.workers].map(({ process }) => process);
  const close = async () => {
    agent.destroy();
    // On SIGTERM, a worker removes the folder of its Chrome.
    await Promise.all(processes.map(process => process.kill('SIGTERM')));
    await deployment.stop();
  };
  try {
    const keys: string[] = [];
    let callerKeys: string[] = [];
    const chance = createChance(1);
    const { version } = await deployment.workers[0]!.process.logLine('chrome is up');
    const { port } = deployment.apis[0]!;
    let prepared: { body: string; pages: number }[] = [];

    async function render(nth: number): Promise<void> {
      const { body, pages } = prepared[nth % prepared.length]!;
      const answer = await renderCall(port, chance.pick(callerKeys), body, {}, agent);
      if (answer.status !== 200)
        throw new Error(`pressroom returned ${answer.status}: ${answer.body.toString()}`);
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
        mongod: deployment.cluster.members[0]!.pid,
      },
      prepare: async ({ document, by, callers, renders, stamped, accounts = 1 }) => {
        while (keys.length < accounts) keys.push((await deployment.account(PLAN)).key);
        callerKeys = keys.slice(0, accounts);
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
