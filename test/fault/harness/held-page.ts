// A render that stays alive on a known worker until the server of probe pages releases it, or until
// a fault ends it.
import type { Answer } from '../../support/http-call.ts';
import type { ApiReplica, Deployment, DeploymentAccount, Replica } from './deployment.ts';
import { slotChromes } from './worker-look.ts';

export interface HeldPage {
  account: DeploymentAccount;
  /** Its name at the server of probe pages. */
  name: string;
  answer: Promise<Answer>;
  worker: Replica;
  /** The number of its slot. */
  slot: number;
  /** The browser process of its slot. */
  browser: number;
  /** The workers without it. */
  others: Replica[];
}

const claimed = async ({ process }: Replica) =>
  process.alive() ? (await process.metrics()).sum('pressroom_slots', { state: 'claimed' }) : 0;
/** A worker logs at this level which slot a render has. */
export const LOGS_SLOTS = { PRESSROOM_LOG_LEVEL: 'debug' };

let made = 0;

/**
 * Resolves when the page is alive. Nothing else may render meanwhile, and the workers run with
 * LOGS_SLOTS. `first` is html before the page's own; `api` is the process that is called.
 */
export async function holdPage(
  deployment: Deployment,
  { first = '', api }: { first?: string; api?: ApiReplica } = {},
): Promise<HeldPage> {
  const account = await deployment.account('free');
  const name = `held page ${++made}`;
  const page = deployment.probePages.page(account.id, name);
  const logged = deployment.workers.map(({ process }) => process.log.length);
  const answer = deployment.render(account, { ...page, html: first + page.html }, api);
  answer.catch(() => {}); // looked at later
  await deployment.probePages.until(account.id, 1);
  const busy = await Promise.all(deployment.workers.map(claimed));
  const index = busy.indexOf(1);
  if (index === -1) throw new Error(`no worker has claimed one slot: ${busy}`);
  const worker = deployment.workers[index]!;
  const { log, logLine } = worker.process;
  const line = await logLine('a slot was claimed', each => log.indexOf(each) >= logged[index]!);
  const slot = line['slot'] as number;
  const others = deployment.workers.filter(other => other !== worker);
  return { account, name, answer, worker, slot, browser: slotChromes(worker)[slot]!, others };
}
