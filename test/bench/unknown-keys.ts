// `npm run bench:keys [-- --calls 4000]`: whether a stranger who guesses keys learns from the time of the refusal if there is an account, how many keys it has or its state.
// Prints the figures; exits with 1 when the wanted one is missed. Ends by itself.
import { parseArgs } from 'node:util';
import { createAcceptedKeys } from '../../api/accounts/accepted-keys.ts';
import { createAccounts } from '../../api/accounts/accounts.ts';
import { createAccountId, createKeyText } from '../../api/accounts/keys.ts';
import { parsePlans } from '../../api/accounts/plans.ts';
import { ApiError } from '../../api/contract/errors.ts';
import { connectStore } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { freshMongod } from '../support/mongod.ts';
import { median, quantile } from './load.ts';

/** How often one call of a kind took longer than one of an unknown account: half of the time when nothing can be told. */
const WANTED = { atLeast: 0.47, atMost: 0.53 };
const PEPPERS = ['a pepper for the bench'];
const WARM_UP = 300;

const { values } = parseArgs({ options: { calls: { type: 'string', default: '4000' } } });
const calls = Number(values.calls);
if (!(Number.isInteger(calls) && calls >= 100 && calls <= 100_000)) throw new Error('--calls is a whole number from 100 to 100000');

/** The share of pairs in which the first is longer (the area under the ROC curve). */
function longerThan(times: readonly number[], others: readonly number[]): number {
  const all = [...times.map(ms => ({ ms, own: 1 })), ...others.map(ms => ({ ms, own: 0 }))].sort((a, b) => a.ms - b.ms);
  let [shorter, pairs] = [0, 0];
  for (const { own } of all) {
    if (own) pairs += shorter;
    else shorter += 1;
  }
  return pairs / (times.length * others.length);
}

const mongod = await freshMongod();
const store = connectStore({ uri: mongod.uriFor('keys'), operationTimeoutMs: 5_000 }, silentLog);
try {
  await store.start();
  const accounts = createAccounts(store, { plans: parsePlans([]), peppers: PEPPERS });
  const accepted = createAcceptedKeys(store, { peppers: PEPPERS, pastDueGraceMs: 60_000, dashboardUrl: 'http://localhost/app' });

  async function account(name: string, keys: number, settings: Parameters<typeof accounts.setAccount>[1] = {}): Promise<string> {
    const { id } = await accounts.createAccount(name, { plan: 'scale', ...settings });
    for (let i = 0; i < keys; i++) await accounts.createKey(name, { name: `key ${i}` });
    return id;
  }
  for (let i = 0; i < 1_000; i++) await accounts.createAccount(`other ${i}`);
  const [one, many, none, canceled] = [
    await account('with one key', 1),
    await account('with 200 keys', 200),
    await account('without keys', 0),
    await account('canceled', 1, { state: 'canceled' }),
  ];
  const kinds: Record<string, () => string> = {
    'unknown account': createAccountId,
    'unknown account, again': createAccountId,
    'account with one key': () => one,
    'account with 200 keys': () => many,
    'account without keys': () => none,
    'canceled account': () => canceled,
  };

  async function refusedAfterMs(accountId: string): Promise<number> {
    const key = createKeyText(accountId);
    const began = performance.now();
    const answer = await accepted.check(key, '192.0.2.1').catch(error => error);
    const ms = performance.now() - began;
    if (!(answer instanceof ApiError && answer.code === 'unauthorized')) throw answer;
    return ms;
  }

  const times = Object.fromEntries(Object.keys(kinds).map(kind => [kind, [] as number[]]));
  for (let i = -WARM_UP; i < calls; i++) {
    for (const [kind, accountId] of Object.entries(kinds)) {
      const ms = await refusedAfterMs(accountId());
      if (i >= 0) times[kind]!.push(ms);
    }
  }
  const unknown = times['unknown account']!;
  let met = true;
  for (const [kind, took] of Object.entries(times)) {
    const longer = longerThan(took, unknown);
    if (kind !== 'unknown account') met &&= longer >= WANTED.atLeast && longer <= WANTED.atMost;
    console.log(
      `${kind.padEnd(24)} p50 ${median(took).toFixed(3)} ms   p95 ${quantile(took, 0.95).toFixed(3)} ms   longer than an unknown one in ${(longer * 100).toFixed(1)} % of all pairs`,
    );
  }
  console.log(
    met ? 'Nothing can be told from the time.' : `MISSED: the wanted share is ${WANTED.atLeast * 100} to ${WANTED.atMost * 100} %.`,
  );
  if (!met) process.exitCode = 1;
} finally {
  await store.stop(AbortSignal.timeout(5_000));
  await mongod.stop();
}
