// The checks of the operator's health page: each has a status, a message and a hint. Pure.
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

/** Leases do not depend on clocks; displayed times and one-time codes do. */
const CLOCK_WARN_MS = 1_000;
const CLOCK_FAIL_MS = 30_000;
const SLOW_MS = 50;
/** By default a queued render fails after 30 s. */
const LONG_WAIT_MS = 5_000;

/** `error`: the message when the server did not respond. */
export function databaseChecks(
  state: Omit<ServerState, 'unsuitable' | 'writable'> | { error: string },
): Check[] {
  if ('error' in state)
    return [
      fail(
        'Database',
        `MongoDB is not responding: ${state.error}`,
        'Check the members of the replica set and the network. Renders fail until MongoDB responds.',
      ),
    ];
  return [
    responseTime(state),
    ok('Database version', `MongoDB ${state.version}.`),
    ...replicaSet(state),
    clock(state),
  ];
}

const responseTime = ({ roundTripMs }: Pick<ServerState, 'roundTripMs'>): Check =>
  roundTripMs <= SLOW_MS
    ? ok('Database', `MongoDB responds in ${roundTripMs} ms.`)
    : warn(
        'Database',
        `MongoDB takes ${roundTripMs} ms to respond.`,
        'Each render makes two database calls. Move MongoDB closer to the API, or check its load.',
      );

function replicaSet({ members }: Pick<ServerState, 'members'>): Check[] {
  const name = 'Replica set';
  if (!members)
    return [
      ok(
        name,
        'Members are not visible to the database user. Grant the role clusterMonitor to show them.',
      ),
    ];
  const bad = members.filter(
    ({ healthy, state }) => !healthy || !['PRIMARY', 'SECONDARY', 'ARBITER'].includes(state),
  );
  const names = bad
    .map(member => `${member.name} is ${member.healthy ? member.state : 'unreachable'}`)
    .join(', ');
  if (bad.length > 0)
    return [
      warn(
        name,
        `${names}.`,
        'Renders continue while a majority is up. Losing another member may stop all renders.',
      ),
    ];
  if (members.length === 1)
    return [
      warn(
        name,
        'The replica set has one member.',
        'This is fine for evaluation. In production, use three members so that renders continue while one is down.',
      ),
    ];
  return [ok(name, `All ${members.length} members are up.`)];
}

function clock({
  clockAheadMs,
  roundTripMs,
}: Pick<ServerState, 'clockAheadMs' | 'roundTripMs'>): Check {
  const name = 'Clocks';
  const aheadMs = Math.round(clockAheadMs);
  const apartMs = Math.max(0, Math.abs(aheadMs) - roundTripMs / 2);
  if (apartMs < CLOCK_WARN_MS)
    return ok(name, 'The clocks of this process and the database agree.');
  const message = `The database's clock is ${Math.abs(aheadMs)} ms ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this process.`;
  const hint =
    'Synchronize all clocks with NTP. Sessions, one-time codes and log times depend on them.';
  return (apartMs < CLOCK_FAIL_MS ? warn : fail)(name, message, hint);
}

/** A worker that several processes report counts once. */
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
  const chromeless = [...each.values()].filter(({ state }) => state.startsWith('chrome'));
  const slots = serving.reduce((sum, { capacity }) => sum + capacity, 0);
  if (serving.length === 0)
    return fail(
      name,
      each.size === 0 ? 'No worker is connected.' : `0 of ${each.size} workers are serving.`,
      'Renders stay queued and then fail. Check the pods or processes of the workers, PRESSROOM_WORKERS, and that all use the same PRESSROOM_POOL_SECRET.',
    );
  if (chromeless.length > 0)
    return warn(
      name,
      `${chromeless.length} of ${each.size} workers have no running Chrome: ${chromeless[0]!.address} reports "${chromeless[0]!.state}".`,
      "Check the worker's log. Usual causes are memory and missing permissions for the sandbox.",
    );
  const partial = reports.filter(({ workers }) => workers.length < each.size).length;
  if (partial > 0)
    return warn(
      name,
      `${partial} of ${reports.length} API processes see fewer workers than the others.`,
      'This is normal right after a change of the pool. Otherwise check the DNS name in PRESSROOM_WORKERS and the network policies.',
    );
  return ok(name, `${serving.length} serving, with ${slots} slots.`);
}

function queueOf(pool: string, reports: readonly Pick<ProcessDocument, 'queue'>[]): Check {
  const name = `Queue of ${pool}`;
  const waiting = reports.reduce((sum, { queue }) => sum + queue.waiting, 0);
  const oldestMs = Math.max(...reports.map(({ queue }) => queue.oldestMs));
  if (oldestMs < LONG_WAIT_MS)
    return ok(
      name,
      waiting === 0 ? 'Queue empty.' : `${waiting} queued, the oldest for ${oldestMs} ms.`,
    );
  return warn(
    name,
    `${waiting} renders queued, the oldest for ${Math.round(oldestMs / 1_000)} s.`,
    'Increase the size or the maximum of the pool, or look for slow pages.',
  );
}

export interface RequestEnvironment {
  publicUrl: string;
  trustedProxies: number;
  /** Whether this request has X-Forwarded-For. */
  forwardedFor: boolean;
  host: string;
}

/** The settings that are most often left at their defaults. */
export function configurationChecks({
  publicUrl,
  trustedProxies,
  forwardedFor,
  host,
}: RequestEnvironment): Check[] {
  const { protocol, hostname, host: publicHost } = new URL(publicUrl);
  const local = hostname === 'localhost' || hostname === '127.0.0.1';
  const https =
    protocol === 'https:' || local
      ? ok('Public URL', `${publicUrl}${local ? ', reachable from this machine only' : ''}.`)
      : warn(
          'Public URL',
          `${publicUrl} uses plain HTTP.`,
          'Passwords and keys are sent unencrypted. Use a reverse proxy with TLS, and set PRESSROOM_PUBLIC_URL to its https URL.',
        );
  const address =
    // A proxy may use another host name.
    host === publicHost || forwardedFor
      ? https
      : warn(
          'Public URL',
          `You use ${host}, but PRESSROOM_PUBLIC_URL is set to ${publicHost}.`,
          'Links and sign-in use PRESSROOM_PUBLIC_URL. Set it to the address that your users open.',
        );
  const proxies =
    forwardedFor && trustedProxies === 0
      ? warn(
          'Proxies',
          'A reverse proxy is in use, but its X-Forwarded-For header is not trusted.',
          'All callers appear to share one address in rate limits, the audit log and IP allowlists. Set PRESSROOM_TRUSTED_PROXIES to the addresses of the proxies.',
        )
      : ok(
          'Proxies',
          trustedProxies === 0
            ? 'No reverse proxy configured.'
            : `X-Forwarded-For is trusted from ${trustedProxies} configured ${trustedProxies === 1 ? 'network' : 'networks'}.`,
        );
  return [address, proxies];
}

/** `down`: no render can succeed. */
export function healthStatusOf(checks: readonly Check[]): Health['status'] {
  if (checks.some(({ status }) => status === 'fail')) return 'down';
  return checks.some(({ status }) => status === 'warn') ? 'degraded' : 'ok';
}
