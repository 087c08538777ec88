// What an operator should know at night, as checks with a hint each. Pure: what is looked at comes
// in, sentences come out.
import type { ProcessDocument, ServerState } from '../../store/store.ts';
import type { Health } from '../contract/accounts.ts';

type Check = Health['checks'][number];

const ok = (name: string, message: string): Check => ({ name, status: 'ok', message, hint: null });
const warn = (name: string, message: string, hint: string): Check => ({
  name,
  status: 'warn',
  message,
  hint,
});
const fail = (name: string, message: string, hint: string): Check => ({
  name,
  status: 'fail',
  message,
  hint,
});

/** Leases are safe whatever the clocks say; times that people read, and one-time codes, are not. */
const CLOCK_WARN_MS = 1_000;
const CLOCK_FAIL_MS = 30_000;
const SLOW_MS = 50;
/** Renders give up after half a minute by default. */
const LONG_WAIT_MS = 5_000;

/** What a server that answered says; `error` the sentence of one that did not. */
export function databaseChecks(state: ServerState | { error: string }): Check[] {
  if ('error' in state)
    return [
      fail(
        'Database',
        `MongoDB does not answer: ${state.error}`,
        'Look at the members of the replica set and at the network between; renders fail until it answers.',
      ),
    ];
  return [
    answering(state),
    ok('Database release', `MongoDB ${state.version}.`),
    ...replicaSet(state),
    clock(state),
  ];
}

const answering = ({ roundTripMs }: ServerState): Check =>
  roundTripMs <= SLOW_MS
    ? ok('Database', `MongoDB answers in ${roundTripMs} ms.`)
    : warn(
        'Database',
        `MongoDB needs ${roundTripMs} ms to answer.`,
        'Each render asks it twice: put it near the API, or look at what keeps it busy.',
      );

function replicaSet({ members }: ServerState): Check[] {
  const name = 'Replica set';
  if (!members)
    return [
      ok(
        name,
        'The database user may not ask for the members. Grant it the role clusterMonitor to see them here.',
      ),
    ];
  const bad = members.filter(
    ({ healthy, state }) => !healthy || !['PRIMARY', 'SECONDARY', 'ARBITER'].includes(state),
  );
  const names = bad
    .map(member => `${member.name} is ${member.healthy ? member.state : 'not reachable'}`)
    .join(', ');
  if (bad.length > 0)
    return [
      warn(
        name,
        `${names}.`,
        'While the majority is up everything works; one more that goes may stop all renders.',
      ),
    ];
  if (members.length === 1)
    return [
      warn(
        name,
        'It has one member.',
        'Fine for trials. In production three members keep renders going while one of them is down.',
      ),
    ];
  return [ok(name, `${members.length} members, all up.`)];
}

function clock({ clockAheadMs, roundTripMs }: ServerState): Check {
  const name = 'Clocks';
  const aheadMs = Math.round(clockAheadMs);
  const apartMs = Math.max(0, Math.abs(aheadMs) - roundTripMs / 2);
  if (apartMs < CLOCK_WARN_MS)
    return ok(name, 'The clocks of this process and of the database agree.');
  const message = `The database's clock is ${Math.abs(aheadMs)} ms ${aheadMs > 0 ? 'ahead of' : 'behind'} that of this process.`;
  const hint =
    'Set the clocks of all machines by NTP: sessions, one-time codes and the times in the logs depend on them.';
  return [apartMs < CLOCK_FAIL_MS ? warn(name, message, hint) : fail(name, message, hint)][0]!;
}

/** Each worker counts once, however many processes see it. */
export function poolChecks(
  reports: readonly Pick<ProcessDocument, 'queue' | 'workers' | 'pool'>[],
): Check[] {
  return [...Map.groupBy(reports, ({ pool }) => pool)].flatMap(([pool, ofPool]) => [
    workersOf(pool, ofPool),
    queueOf(pool, ofPool),
  ]);
}

function workersOf(pool: string, reports: readonly Pick<ProcessDocument, 'workers'>[]): Check {
  const name = `Workers of ${pool}`;
  const each = new Map(
    reports.flatMap(({ workers }) => workers.map(worker => [worker.address, worker])),
  );
  const serving = [...each.values()].filter(({ state }) => state === 'serving');
  const without = [...each.values()].filter(({ state }) => state.startsWith('chrome'));
  const slots = serving.reduce((sum, { capacity }) => sum + capacity, 0);
  if (serving.length === 0)
    return fail(
      name,
      each.size === 0 ? 'No worker is connected.' : `None of ${each.size} workers serves.`,
      'Renders wait, and fail after a while. Look at the pods or processes of the workers, at PRESSROOM_WORKERS, and whether all have the same PRESSROOM_POOL_SECRET.',
    );
  if (without.length > 0)
    return warn(
      name,
      `${without.length} of ${each.size} workers have no Chrome: ${without[0]!.address} says ${without[0]!.state}.`,
      "Its own log says why; memory and the sandbox's rights are the usual reasons.",
    );
  const seen = reports.filter(({ workers }) => workers.length < each.size).length;
  if (seen > 0)
    return warn(
      name,
      `${seen} of ${reports.length} API processes see fewer workers than there are.`,
      'Right after a change of the pool this passes; otherwise look at the DNS name in PRESSROOM_WORKERS and at network policies.',
    );
  return ok(name, `${serving.length} with ${slots} slots.`);
}

function queueOf(pool: string, reports: readonly Pick<ProcessDocument, 'queue'>[]): Check {
  const name = `Queue of ${pool}`;
  const waiting = reports.reduce((sum, { queue }) => sum + queue.waiting, 0);
  const oldestMs = Math.max(...reports.map(({ queue }) => queue.oldestMs));
  if (oldestMs < LONG_WAIT_MS)
    return ok(
      name,
      waiting === 0 ? 'Nothing waits.' : `${waiting} wait, the first for ${oldestMs} ms.`,
    );
  return warn(
    name,
    `${waiting} renders wait, the first for ${Math.round(oldestMs / 1_000)} s.`,
    'More slots are wanted: raise the size of the pool or its maximum, or look for pages that take long.',
  );
}

export interface Surroundings {
  publicUrl: string;
  trustedProxies: number;
  /** Of this very request. */
  forwardedFor: boolean;
  host: string;
}

/** What an operator is most likely to have left as it was. */
export function configurationChecks({
  publicUrl,
  trustedProxies,
  forwardedFor,
  host,
}: Surroundings): Check[] {
  const { protocol, hostname, host: publicHost } = new URL(publicUrl);
  const local = hostname === 'localhost' || hostname === '127.0.0.1';
  const https =
    protocol === 'https:' || local
      ? ok('Public address', `${publicUrl}${local ? ', this machine alone' : ''}.`)
      : warn(
          'Public address',
          `${publicUrl} is plain http.`,
          'Passwords and keys travel in the open: put a proxy with TLS in front and set PRESSROOM_PUBLIC_URL to its https address.',
        );
  const address =
    // A proxy may well ask under a name of its own.
    host === publicHost || forwardedFor
      ? https
      : warn(
          'Public address',
          `You came by ${host}, but PRESSROOM_PUBLIC_URL says ${publicHost}.`,
          'Links and sign-ins lead to the configured address: set PRESSROOM_PUBLIC_URL to the one that people use.',
        );
  const proxies =
    forwardedFor && trustedProxies === 0
      ? warn(
          'Proxies',
          'A proxy is in front, and its X-Forwarded-For is not believed.',
          'All callers seem to come from one address, for limits, audit and allowed networks of keys: set PRESSROOM_TRUSTED_PROXIES to the addresses of the proxies.',
        )
      : ok(
          'Proxies',
          trustedProxies === 0
            ? 'None is in front.'
            : `The X-Forwarded-For of ${trustedProxies} networks is believed.`,
        );
  return [address, proxies];
}

/** `down`: no render can succeed. */
export function healthStatusOf(checks: readonly Check[]): Health['status'] {
  if (checks.some(({ status }) => status === 'fail')) return 'down';
  return checks.some(({ status }) => status === 'warn') ? 'degraded' : 'ok';
}
