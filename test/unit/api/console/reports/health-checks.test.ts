import { expect } from 'chai';
import {
  configurationChecks,
  databaseChecks,
  healthStatusOf,
  poolChecks,
} from '../../../../../api/console/reports/health-checks.ts';
import type { ServerState } from '../../../../../api/store/store.ts';

const server = (
  fields: Partial<ServerState> = {},
): Omit<ServerState, 'unsuitable' | 'writable'> => ({
  version: '8.0.4',
  clockAheadMs: 3,
  roundTripMs: 2,
  members: ['a', 'b', 'c'].map((name, index) => ({
    name,
    state: index === 0 ? 'PRIMARY' : 'SECONDARY',
    healthy: true,
  })),
  ...fields,
});
const worker = (address: string, state = 'serving', busy = 0) => ({
  address,
  state,
  capacity: 2,
  busy,
});
const report = (workers: ReturnType<typeof worker>[], oldestMs = 0) => ({
  pool: 'default',
  queue: { waiting: oldestMs > 0 ? 3 : 0, oldestMs, byAccount: {} },
  workers,
});
const bad = (checks: { name: string; status: string; hint: string | null }[]) =>
  checks.filter(({ status }) => status !== 'ok').map(({ name, status }) => `${name}: ${status}`);
const environment = {
  publicUrl: 'https://pdf.example.com',
  trustedProxies: 1,
  forwardedFor: true,
  host: 'pdf.example.com',
};

describe('the health checks', () => {
  it('are ok for a healthy installation', () => {
    const checks = [
      ...databaseChecks(server()),
      ...poolChecks([report([worker('a')])]),
      ...configurationChecks(environment),
    ];
    expect(bad(checks)).to.deep.equal([]);
    expect(healthStatusOf(checks)).to.equal('ok');
  });

  it('are down when the database does not respond', () => {
    const checks = databaseChecks({ error: 'no primary.' });
    expect(bad(checks)).to.deep.equal(['Database: fail']);
    expect(healthStatusOf(checks)).to.equal('down');
  });

  const cases: [what: string, checks: Parameters<typeof bad>[0], found: string[]][] = [
    ['a slow database', databaseChecks(server({ roundTripMs: 80 })), ['Database: warn']],
    [
      'a replica set with one member',
      databaseChecks(server({ members: [{ name: 'a', state: 'PRIMARY', healthy: true }] })),
      ['Replica set: warn'],
    ],
    [
      'an unreachable member',
      databaseChecks(
        server({
          members: [
            ...server().members!,
            { name: 'd', state: '(not reachable/healthy)', healthy: false },
          ],
        }),
      ),
      ['Replica set: warn'],
    ],
    [
      'a database user who cannot see the members',
      databaseChecks(server({ members: undefined })),
      [],
    ],
    [
      'clocks that differ by seconds',
      databaseChecks(server({ clockAheadMs: -1_500 })),
      ['Clocks: warn'],
    ],
    [
      'clocks that differ by a minute',
      databaseChecks(server({ clockAheadMs: 60_000 })),
      ['Clocks: fail'],
    ],
    ['a pool without a worker', poolChecks([report([])]), ['Workers of default: fail']],
    [
      'a pool whose workers all drain',
      poolChecks([report([worker('a', 'draining')])]),
      ['Workers of default: fail'],
    ],
    [
      'a worker without Chrome',
      poolChecks([report([worker('a'), worker('b', 'chrome down')])]),
      ['Workers of default: warn'],
    ],
    [
      'a process that sees fewer workers',
      poolChecks([report([worker('a'), worker('b')]), report([worker('a')])]),
      ['Workers of default: warn'],
    ],
    [
      'a long queue time',
      poolChecks([report([worker('a', 'serving', 2)], 8_000)]),
      ['Queue of default: warn'],
    ],
    [
      'plain HTTP',
      configurationChecks({ ...environment, publicUrl: 'http://pdf.example.com' }),
      ['Public URL: warn'],
    ],
    [
      'an address other than the configured one',
      configurationChecks({ ...environment, host: '10.0.0.1', forwardedFor: false }),
      ['Public URL: warn'],
    ],
    [
      'an untrusted proxy',
      configurationChecks({ ...environment, trustedProxies: 0 }),
      ['Proxies: warn'],
    ],
    [
      'localhost',
      configurationChecks({
        publicUrl: 'http://localhost:8080',
        trustedProxies: 0,
        forwardedFor: false,
        host: 'localhost:8080',
      }),
      [],
    ],
  ];
  for (const [what, checks, found] of cases)
    it(`report ${what} as ${found.join() || 'ok'}`, () => {
      expect(bad(checks)).to.deep.equal(found);
      for (const { status, hint } of checks) if (status !== 'ok') expect(hint).to.match(/\.$/);
    });

  it('are empty for pools when no process reports', () => {
    expect(poolChecks([])).to.deep.equal([]);
  });
});
