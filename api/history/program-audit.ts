// The entries of the audit log for what programs do with asynchronous renders. A program may cancel
// thousands, so an entry counts them: the entries of people stay in sight.
import type { Log } from '../../common/log.ts';
import type { Accepted } from '../accounts/accepted-keys.ts';
import { type AuditDocument, type Store, upserted } from '../store/store.ts';

type KeyCaller = Pick<Accepted, 'accountId' | 'keyId' | 'keyName' | 'clientIp'>;

interface Counted {
  account: string;
  /** With the account and the action, what has one entry. */
  names: string[];
  /** The time and the address are those of the first time. */
  entry: Pick<AuditDocument, 'actor' | 'action' | 'target' | 'ip'>;
  /** The ID of the API key. */
  key?: string;
  /** The name of the counter in the details. */
  counter: string;
  by: number;
}

const hourOf = (at: Date) => at.toISOString().slice(0, 13);
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

const byKey = ({ accountId, keyId, keyName, clientIp }: KeyCaller) => ({
  account: accountId,
  key: keyId,
  actor: { actor: `API key ${keyName}`, ip: clientIp },
});

/**
 * Call it after the action: methods never reject. An entry that cannot be written is an error in the
 * log of the process, with all that it would contain.
 */
export class ProgramAudit {
  readonly #store: Store;
  readonly #log: Log;

  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#log = log;
  }

  /** One more render, in the entry of the key and the hour. */
  renderCanceled(caller: KeyCaller): Promise<void> {
    const { actor, ...of } = byKey(caller);
    return this.#count({
      ...of,
      names: [caller.keyId, hourOf(new Date())],
      entry: { ...actor, action: 'renders.canceled' },
      counter: 'renders',
      by: 1,
    });
  }

  /** `canceled`: how many of its renders, at least 1. */
  batchCanceled(caller: KeyCaller, batch: string, canceled: number): Promise<void> {
    const { actor, ...of } = byKey(caller);
    return this.#count({
      ...of,
      names: [caller.keyId, batch],
      entry: { ...actor, action: 'batch.canceled', target: batch },
      counter: 'canceled',
      by: canceled,
    });
  }

  /** Deleted the requests or PDFs of so many expired renders, at least 1: in the entry of the day. */
  rendersPurged(account: string, renders: number): Promise<void> {
    return this.#count({
      account,
      names: [dayOf(new Date())],
      entry: { actor: 'Pressroom', action: 'renders.purged' },
      counter: 'renders',
      by: renders,
    });
  }

  async #count({ account, names, entry, key, counter, by }: Counted): Promise<void> {
    const { limits, limited, console } = this.#store;
    const _id = ['aud', entry.action, account, ...names].join('_');
    const update = {
      $inc: { [`details.${counter}`]: by },
      $setOnInsert: { ...entry, at: new Date(), ...(key !== undefined && { 'details.key': key }) },
    };
    try {
      await upserted(() =>
        limited(console.audit.updateOne({ _id, account }, update, { upsert: true, ...limits })),
      );
    } catch (error) {
      const { message: reason } = error as Error;
      const lost = { accountId: account, ...entry, keyId: key, [counter]: by };
      this.#log.error({ ...lost, reason }, 'could not write an entry of the audit log');
    }
  }
}
