// A render that stays alive on a worker that is known, until the witness lets it go or something happens to it.
import type { Answer } from '../../support/http-call.ts';
import type { ApiSeat, Seat, Site, SiteAccount } from './site.ts';

export interface HeldPage {
  account: SiteAccount;
  /** How the witness knows it. */
  name: string;
  answer: Promise<Answer>;
  worker: Seat;
  /** The workers without it. */
  others: Seat[];
}

const claimed = async ({ process }: Seat) => (process.alive() ? (await process.metrics()).sum('pressroom_slots', { state: 'claimed' }) : 0);
let made = 0;

/** Resolves when the page is alive. Nothing else may render meanwhile. `first` is html before the page's own; `api` is who is called. */
export async function holdPage(site: Site, { first = '', api }: { first?: string; api?: ApiSeat } = {}): Promise<HeldPage> {
  const account = await site.account('free');
  const name = `held page ${++made}`;
  const page = site.witness.page(account.id, name);
  const answer = site.render(account, { ...page, html: first + page.html }, api);
  answer.catch(() => {}); // looked at later
  await site.witness.until(account.id, 1);
  const busy = await Promise.all(site.workers.map(claimed));
  const index = busy.indexOf(1);
  if (index === -1) throw new Error(`no worker has claimed one slot: ${busy}`);
  return { account, name, answer, worker: site.workers[index]!, others: site.workers.filter((_, other) => other !== index) };
}
