// The outcome of every lease, by MongoDB's change stream, independent of Pressroom. Detects counts
// without a lease and leases that were counted twice.
import type { ChangeStreamDocument, Document } from 'mongodb';
import type { AccountDocument } from '../../../api/store/store.ts';
import { eventually } from '../../support/eventually.ts';
import type { Cluster } from './cluster.ts';

export interface Ledger {
  /** The account's counts so far in order, each with its lease. */
  counted(account: string): { count: number; lease: string }[];
  /** Violations so far, as sentences. */
  wrong(): string[];
  /** Resolves when the ledger contains all writes before this call. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
}

interface Page {
  taken: Set<string>;
  /** Counted or released. */
  over: Set<string>;
  counted: { count: number; lease: string }[];
}

const ACCOUNTS = 'accounts';
/** A marker document that the ledger writes to detect its position in the stream. */
const MARKS = 'ledger_marks';

/** Records all writes from now on, across elections. */
export async function openLedger(cluster: Cluster): Promise<Ledger> {
  const db = cluster.client.db('pressroom');
  await db.command({ collMod: ACCOUNTS, changeStreamPreAndPostImages: { enabled: true } });
  // The stream opens with its first read, so it starts explicitly at this moment.
  const { operationTime: startAtOperationTime } = await db.command({ ping: 1 });
  const pages = new Map<string, Page>();
  const problems: string[] = [];
  const marks = new Set<string>();

  const pageOf = (account: string): Page => {
    const page = pages.get(account) ?? { taken: new Set(), over: new Set(), counted: [] };
    pages.set(account, page);
    return page;
  };

  function write(before: AccountDocument, after: AccountDocument): void {
    const page = pageOf(after._id);
    const idsOf = ({ leases }: AccountDocument) => leases.map(({ id }) => id);
    const gone = idsOf(before).filter(id => !idsOf(after).includes(id));
    const added = idsOf(after).filter(id => !idsOf(before).includes(id));
    const wrong = (what: string) =>
      problems.push(
        `${after._id}: ${what} (${JSON.stringify(before.usage)} to ${JSON.stringify(after.usage)}, gone ${gone}, new ${added})`,
      );

    if (new Set(idsOf(after)).size < after.leases.length) wrong('a lease is there twice');
    for (const id of added) if (page.taken.has(id)) wrong('a lease came again');
    for (const id of gone)
      if (!page.taken.has(id) || page.over.has(id))
        wrong('a lease went that was never there, or went before');
    for (const id of added) page.taken.add(id);
    for (const id of gone) page.over.add(id);

    const [from, to] = [before.usage, after.usage];
    if (from.count === to.count && from.period === to.period) return;
    if (to.count !== (to.period === from.period ? from.count + 1 : 1))
      wrong('the count did not go up by one');
    if (gone.length !== 1 || added.length > 0) wrong('a count was not paid for by one lease');
    page.counted.push({ count: to.count, lease: gone.join() });
  }

  function read(change: ChangeStreamDocument<Document>): void {
    if (change.operationType === 'insert' && change.ns.coll === MARKS)
      marks.add(String(change.documentKey._id));
    if (!('ns' in change) || !('coll' in change.ns!) || change.ns.coll !== ACCOUNTS) return;
    if (change.operationType !== 'update' && change.operationType !== 'replace') return;
    const { fullDocumentBeforeChange: before, fullDocument: after } = change;
    if (before && after) write(before as AccountDocument, after as AccountDocument);
    else problems.push(`a change of ${String(change.documentKey._id)} came without its documents`);
  }

  const stream = db.watch([], {
    fullDocument: 'whenAvailable',
    fullDocumentBeforeChange: 'whenAvailable',
    startAtOperationTime,
  });
  stream
    .on('change', read)
    .on('error', error => problems.push(`the stream of changes broke: ${error.message}`));
  let made = 0;

  return {
    counted: account => [...pageOf(account).counted],
    wrong: () => [...problems],
    caughtUp: async () => {
      const mark = `mark ${++made}`;
      await db
        .collection<{ _id: string }>(MARKS)
        .insertOne({ _id: mark }, { writeConcern: { w: 'majority' } });
      await eventually(() => {
        if (!marks.has(mark))
          throw new Error(`the stream of changes has not come to ${mark}: ${problems.join('; ')}`);
      });
    },
    close: () => stream.close(),
  };
}
