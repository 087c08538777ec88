// The process of one engine, forked by driven.ts. Renders complete rounds, so that no messages are
// exchanged per render.
import { beginningsOf, closedLoop } from './closed-loop.ts';
import { type Job, jobs } from './documents.ts';
import type { EngineName } from './engine.ts';
import { pagesOf } from './page-count.ts';
import type { Work } from './side.ts';

export type Order =
  | { id: number; task: 'prepare' | 'run'; work: Work }
  | { id: number; task: 'close' };
export type Reply = { id: number; value?: unknown; error?: string };

const [name, base] = process.argv.slice(2) as [EngineName, string];

async function open() {
  if (name === 'bare') return (await import('./bare-chrome.ts')).openBareChrome(process.env);
  const { openPuppeteer, openPuppeteerCluster } = await import('./puppeteer-engines.ts');
  return name === 'puppeteer' ? openPuppeteer(process.env) : openPuppeteerCluster(process.env);
}

const engine = await open();
let prepared: Job[] = [];

async function render(job: Job): Promise<void> {
  const pages = pagesOf(await engine.render(job));
  if (pages !== job.pages)
    throw new Error(`${name} printed ${pages} pages of a document of ${job.pages}`);
}

async function carryOut(order: Order): Promise<unknown> {
  if (order.task === 'close') return engine.close();
  const { document, by, callers, renders } = order.work;
  if (order.task === 'run')
    return closedLoop(renders, callers, nth => render(prepared[nth % prepared.length]!));
  prepared = jobs(document, by, Math.min(beginningsOf(renders, callers), 64), base);
}

const send = (reply: Reply) => process.send!(reply);
process.on('message', async (order: Order) => {
  try {
    send({ id: order.id, value: await carryOut(order) });
  } catch (error) {
    send({ id: order.id, error: (error as Error).stack ?? String(error) });
  }
  if (order.task === 'close') process.disconnect();
});
// The parent process has ended, possibly without a message; Chrome must not stay behind.
process.on('disconnect', () => void engine.close().finally(() => process.exit()));
send({ id: 0, value: engine.version });
