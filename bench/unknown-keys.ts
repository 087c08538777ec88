// `npm run bench:keys [-- --calls 4000]`: measures whether the response time to an invalid key
// reveals that an account exists, how many keys it has, or its state. Prints the figures; exits
// with 1 if the target is missed.
import { createAcceptedKeys } from '../api/accounts/accepted-keys.ts';
import { Accounts } from '../api/accounts/accounts.ts';
import { createAccountId, createKeyText } from '../api/accounts/keys.ts';
import { parsePlans } from '../api/accounts/plans.ts';
import { connectStore } from '../api/store/store.ts';
import { ApiError } from '../common/contract/errors.ts';
import { silentLog } from '../common/log.ts';
import { freshMongod } from '../test/support/servers/mongod.ts';
import { median, quantile } from './load.ts';
import { machineLine, readNumbers, runScript, whole } from './script.ts';

const LIMIT_MS = 15 * 60_000;
/** Maximum deviation from 50 %, the value if the times are indistinguishable. */
const TARGET_PERCENT = 3;
const PEPPERS = ['a pepper for the bench'];
const WARM_UP = 300;

const { calls } = readNumbers({ calls: 4_000 }, whole(100, 100_000));

/** The fraction of pairs in which the first is longer (the area under the ROC curve). */
function longerThan(times: readonly number[], others: readonly number[]): number {
  const all = [...times.map(ms => ({ ms, own: 1 })), ...others.map(ms => ({ ms, own: 0 }))].sort(
    (a, b) => a.ms - b.ms,
  );
  let [shorter, pairs] = [0, 0];
  for (const { own } of all) {
    if (own) pairs += shorter;
    else shorter += 1;
  }
  return pairs / (times.length * others.length);
}

await runScript(LIMIT_MS, async (atEnd, end) => {
  const mongod = await freshMongod({ onDisk: true });
  atEnd(mongod.stop);
  const store = connectStore({ uri: mongod.uriFor('keys'), operationTimeoutMs: 5_000 }, silentLog);
  await store.start();
  atEnd(() => store.stop(AbortSignal.timeout(5_000)));
  console.log(`${machineLine()}; ${calls} calls of each kind`);
  const accounts = new Accounts(store, { plans: parsePlans([]), peppers: PEPPERS });
  const accepted = createAcceptedKeys(store, {
    plans: parsePlans([]),
    peppers: PEPPERS,
    pastDueGraceMs: 60_000,
    billing: 'manual',
    dashboardUrl: 'http://localhost/app',
  });

  async function account(
    name: string,
    keys: number,
    settings: Parameters<typeof accounts.setAccount>[1] = {},
  ): Promise<string> {
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

  async function rejectedAfterMs(accountId: string): Promise<number> {
    const key = createKeyText(accountId);
    const began = performance.now();
    const answer = await accepted.check(key, '192.0.2.1', 'render').catch(error => error);
    const ms = performance.now() - began;
    if (!(answer instanceof ApiError && answer.code === 'unauthorized')) throw answer;
    return ms;
  }

  const times = Object.fromEntries(Object.keys(kinds).map(kind => [kind, [] as number[]]));
  for (let i = -WARM_UP; i < calls; i++) {
    end.throwIfAborted();
    for (const [kind, accountId] of Object.entries(kinds)) {
      const ms = await rejectedAfterMs(accountId());
      if (i >= 0) times[kind]!.push(ms);
    }
  }
  const unknown = times['unknown account']!;
  return Object.entries(times).map(([kind, took]) => {
    const longerPercent = longerThan(took, unknown) * 100;
    console.log(
      `  ${kind.padEnd(24)} p50 ${median(took).toFixed(3)} ms   p95 ${quantile(took, 0.95).toFixed(3)} ms   longer than for an unknown account in ${longerPercent.toFixed(1)} % of pairs`,
    );
    return {
      what: `timing difference: ${kind}`,
      value: Math.abs(longerPercent - 50),
      unit: '% from 50 %',
      atMost: TARGET_PERCENT,
    };
  });
});
