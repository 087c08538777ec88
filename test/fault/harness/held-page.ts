// A render that stays alive on a worker that is known, until the witness lets it go or something
// happens to it.
import type { Answer } from '../../support/http-call.ts';
import type { ApiSeat, Seat, Site, SiteAccount } from './site.ts';
import { slotChromes } from './worker-look.ts';

export interface HeldPage {
  account: SiteAccount;
  /** How the witness knows it. */
  name: string;
  answer: Promise<Answer>;
  worker: Seat;
  /** The number of its slot. */
  slot: number;
  /** The browser process of its slot. */
  browser: number;
  /** The workers without it. */
  others: Seat[];
}

const claimed = async ({ process }: Seat) =>
  process.alive() ? (await process.metrics()).sum('pressroom_slots', { state: 'claimed' }) : 0;
/** A worker logs at this level which slot a render has. */
export const LOGS_SLOTS = { PRESSROOM_LOG_LEVEL: 'debug' };

let made = 0;

/**
 * Resolves when the page is alive. Nothing else may render meanwhile, and the workers run with
 * LOGS_SLOTS. `first` is html before the page's own; `api` is the process that is called.
 */
export async function holdPage(
  site: Site,
  { first = '', api }: { first?: string; api?: ApiSeat } = {},
): Promise<HeldPage> {
  const account = await site.account('free');
  const name = `held page ${++made}`;
  const page = site.witness.page(account.id, name);
  const logged = site.workers.map(({ process }) => process.log.length);
  const answer = site.render(account, { ...page, html: first + page.html }, api);
  answer.catch(() => {}); // looked at later
  await site.witness.until(account.id, 1);
  const busy = await Promise.all(site.workers.map(claimed));
  const index = busy.indexOf(1);
  if (index === -1) throw new Error(`no worker has claimed one slot: ${busy}`);
  const worker = site.workers[index]!;
  const { log, said } = worker.process;
  const line = await said('a slot was claimed', each => log.indexOf(each) >= logged[index]!);
  const slot = line['slot'] as number;
  const others = site.workers.filter(other => other !== worker);
  return { account, name, answer, worker, slot, browser: slotChromes(worker)[slot]!, others };
}
