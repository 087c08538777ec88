import { expect } from 'chai';
import {
  type ApiProcessFacts,
  checkApiProcess,
  checkProxies,
} from '../../../../cli/doctor/api-process.ts';
import { checkDatabase } from '../../../../cli/doctor/database.ts';
import {
  checkLine,
  checkPassed,
  checkWarning,
  type DoctorCheck,
  withoutUserInfo,
} from '../../../../cli/doctor/doctor-check.ts';
import {
  checkPrometheus,
  controllerReleases,
  QUEUE_METRIC,
  SLOTS_METRIC,
} from '../../../../cli/doctor/prometheus-series.ts';
import { checkPublicAddress, type PublicUrlFacts } from '../../../../cli/doctor/public-url.ts';
import { checkReleases, releasesApart } from '../../../../cli/doctor/releases.ts';
import { checkWorkers, type SeenWorker } from '../../../../cli/doctor/workers.ts';
import { queriesFor } from '../../../../controller/load/load-queries.ts';

/** `subject: level`, with `fix` for a line that has one. */
const levels = (checks: readonly DoctorCheck[]) =>
  checks.map(({ subject, level, fix }) => `${subject}: ${level}${fix === undefined ? '' : ' fix'}`);

describe('a line of the doctor', () => {
  it('starts with its level, and ends with the fix', () => {
    expect(checkLine(checkPassed('API', 'Ready.'))).to.equal('ok       API: Ready.\n');
    expect(checkLine(checkWarning('API', 'Slow.', 'Wait.'))).to.equal(
      'warning  API: Slow. Wait.\n',
    );
  });
});

describe('a text of the doctor', () => {
  it('has no user and password of a URL', () => {
    expect(withoutUserInfo('from mongodb://a:b%40c@h1,h2/db and http://x@y/z')).to.equal(
      'from mongodb://…@h1,h2/db and http://…@y/z',
    );
  });
});

describe('the doctor judges the database', () => {
  const members = ['PRIMARY', 'SECONDARY', 'SECONDARY'].map((state, index) => ({
    name: `m${index}`,
    state,
    healthy: true,
  }));
  const state = {
    version: '8.0.4',
    clockAheadMs: 0,
    roundTripMs: 1,
    members,
    unsuitable: undefined,
    writable: true,
  };
  const facts = { state, write: { ms: 4 }, read: { ms: 1 } };
  const problems = (given: Parameters<typeof checkDatabase>[0]) =>
    levels(checkDatabase(given).filter(({ level }) => level !== 'ok'));

  it('with only ok lines when all is well', () => {
    expect(levels(checkDatabase(facts))).to.deep.equal(
      [
        'Database',
        'Database version',
        'Replica set',
        'Clocks',
        'Primary',
        'Write concern',
        'Read',
      ].map(subject => `${subject}: ok`),
    );
  });

  for (const [what, given, expected] of [
    [
      'a server that does not respond',
      { unreachable: 'connect ECONNREFUSED' },
      'Database: error fix',
    ],
    [
      'a server that is unsuitable',
      { ...facts, state: { ...state, unsuitable: 'MongoDB 5.0.1 is too old.' } },
      'Database: error fix',
    ],
    [
      'a member that is not the primary',
      { ...facts, state: { ...state, writable: false } },
      'Primary: error fix',
    ],
    [
      'a write that no majority confirms',
      { ...facts, write: { error: 'waiting for replication timed out' } },
      'Write concern: error fix',
    ],
    ['a slow write', { ...facts, write: { ms: 400 } }, 'Write concern: warning fix'],
    ['a read that fails', { ...facts, read: { error: 'not authorized' } }, 'Read: error fix'],
    ['a slow read', { ...facts, read: { ms: 400 } }, 'Read: warning fix'],
    [
      'a clock that is minutes off',
      { ...facts, state: { ...state, clockAheadMs: 120_000 } },
      'Clocks: error fix',
    ],
  ] as const)
    it(`and reports ${what}`, () => {
      expect(problems(given)).to.deep.equal([expected]);
    });
});

describe('the doctor judges workers', () => {
  const worker: SeenWorker = {
    address: 'ws://10.0.0.1:9222',
    capacity: 2,
    draining: false,
    chrome: 'up',
    release: '0.1.0',
    sandbox: true,
    clockAheadMs: 3,
  };
  const judged = (workers: SeenWorker[], problems: string[] = []) =>
    checkWorkers({ sources: ['dns://workers:9222'], pool: 'default', workers, problems });

  it('with the reason of the discovery when no worker responds', () => {
    const [line, ...others] = judged([], ['workers: it belongs to the pool other']);
    expect(others).to.deep.equal([]);
    expect(line!.level).to.equal('error');
    expect(line!.message).to.include('dns://workers:9222').and.include('the pool other');
  });

  for (const [what, workers, expected] of [
    ['all well', [worker, worker], ['ok', 'ok', 'ok']],
    ['draining workers beside others', [worker, { ...worker, draining: true }], ['ok', 'ok', 'ok']],
    ['only draining workers', [{ ...worker, draining: true }], ['error fix', 'ok', 'ok']],
    [
      'a worker without Chrome',
      [worker, { ...worker, chrome: 'down' }],
      ['warning fix', 'ok', 'ok'],
    ],
    ['no Chrome at all', [{ ...worker, chrome: 'down' }], ['error fix', 'ok', 'ok']],
    ['a sandbox that is off', [worker, { ...worker, sandbox: false }], ['ok', 'warning fix', 'ok']],
    [
      'workers of an older release',
      [{ ...worker, sandbox: undefined, release: undefined, clockAheadMs: undefined }],
      ['ok', 'ok', 'ok'],
    ],
    ['a clock that is late', [{ ...worker, clockAheadMs: -5_000 }], ['ok', 'ok', 'warning fix']],
    [
      'a clock that stops renders',
      [{ ...worker, clockAheadMs: 45_000 }],
      ['ok', 'ok', 'error fix'],
    ],
  ] as [string, SeenWorker[], string[]][])
    it(`with ${what}`, () => {
      const subjects = ['Workers', 'Sandbox', 'Clocks of workers'];
      expect(levels(judged(workers))).to.deep.equal(
        subjects.map((subject, index) => `${subject}: ${expected[index]}`),
      );
    });
});

describe('the doctor judges Prometheus', () => {
  const queue = { __name__: QUEUE_METRIC, namespace: 'pdf', pool: 'default', pod: 'api-1' };
  const slots = { __name__: SLOTS_METRIC, namespace: 'pdf', pool: 'default', pod: 'worker-1' };
  const judged = (...series: Record<string, string>[]) =>
    checkPrometheus({ url: 'http://prometheus', pool: 'default', series });
  const without = (labels: Record<string, string>, name: string) =>
    Object.fromEntries(Object.entries(labels).filter(([label]) => label !== name));

  it('by the metrics and labels that the controller queries', () => {
    const { values } = queriesFor([]);
    for (const part of [QUEUE_METRIC, SLOTS_METRIC, 'pool!=""', 'namespace!=""'])
      expect(values).to.include(part);
  });

  it('as not checked without a URL', () => {
    expect(levels(checkPrometheus('not configured'))).to.deep.equal(['Prometheus: ok']);
  });

  it('as an error when it does not answer', () => {
    const facts = { url: 'http://prometheus', error: 'ECONNREFUSED' };
    expect(levels(checkPrometheus(facts))).to.deep.equal(['Prometheus: error fix']);
  });

  for (const [what, series, api, workers, word] of [
    ['all series', [queue, slots], 'ok', 'ok', 'Prometheus has'],
    ['no series', [], 'error fix', 'error fix', 'has no series'],
    [
      'series of another pool',
      [{ ...queue, pool: 'other' }, slots],
      'error fix',
      'ok',
      'has no series',
    ],
    [
      'no label namespace',
      [without(queue, 'namespace'), slots],
      'error fix',
      'ok',
      'no label namespace',
    ],
    [
      'labels that the scrape renamed',
      [{ ...without(queue, 'pool'), exported_pool: 'default' }, slots],
      'error fix',
      'ok',
      'exported_pool',
    ],
    ['no label pod', [without(queue, 'pod'), slots], 'warning fix', 'ok', 'no label pod'],
  ] as const)
    it(`with ${what}`, () => {
      const checks = judged(...series);
      expect(levels(checks)).to.deep.equal([
        `Prometheus, API: ${api}`,
        `Prometheus, workers: ${workers}`,
      ]);
      expect(checks[0]!.message).to.include(word);
    });

  it('and reads the releases of controllers, which have no pool', () => {
    const build = { __name__: 'pressroom_build_info', version: '0.1.0' };
    const series = [build, { ...build, version: '9.0.0', pool: 'default' }];
    expect(controllerReleases({ url: '', pool: 'default', series })).to.deep.equal(['0.1.0']);
    expect(controllerReleases('not configured')).to.equal(undefined);
  });
});

describe('the doctor judges the public URL', () => {
  const NOW = Date.parse('2030-01-01T00:00:00Z');
  const inDays = (days: number) => new Date(NOW + days * 24 * 3600e3);
  const url = 'https://pdf.example.com';
  const certificate = {
    validFrom: inDays(-10),
    validTo: inDays(80),
    untrusted: undefined,
    otherNames: false,
  };
  const facts = (changes: Partial<PublicUrlFacts> = {}): PublicUrlFacts => ({
    url,
    isSet: true,
    reached: { status: 200, leadsTo: url },
    certificate,
    ...changes,
  });
  const plain = (address: string) => ({
    url: address,
    reached: { status: 200, leadsTo: address },
    certificate: undefined,
  });

  for (const [what, changes, expected] of [
    ['that leads here', {}, ['Public URL: ok', 'Certificate: ok']],
    ['of this machine', plain('http://localhost:8080'), ['Public URL: ok']],
    [
      'that is not set',
      { ...plain('http://localhost:8080'), isSet: false },
      ['Public URL: warning fix'],
    ],
    ['with plain HTTP', plain('http://pdf.example.com'), ['Public URL: warning fix']],
    [
      'of another installation',
      { reached: { status: 200, leadsTo: 'https://old.example.com' } },
      ['Public URL: error fix', 'Certificate: ok'],
    ],
    [
      'of another server',
      { reached: { status: 404, leadsTo: undefined } },
      ['Public URL: error fix', 'Certificate: ok'],
    ],
    [
      'that cannot be reached from here',
      { reached: { error: 'ENOTFOUND' }, certificate: undefined },
      ['Public URL: warning fix'],
    ],
  ] as [string, Partial<PublicUrlFacts>, string[]][])
    it(`for a URL ${what}`, () => {
      expect(levels(checkPublicAddress(facts(changes), NOW))).to.deep.equal(expected);
    });

  for (const [what, changes, expected] of [
    ['expired', { validTo: inDays(-1) }, 'error'],
    ['ends within two weeks', { validTo: inDays(14) }, 'warning'],
    ['begins tomorrow', { validFrom: inDays(1) }, 'error'],
    ['has other names', { otherNames: true }, 'error'],
    ['comes from an unknown authority', { untrusted: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'warning'],
  ] as const)
    it(`for a certificate that ${what}`, () => {
      const checks = checkPublicAddress(
        facts({ certificate: { ...certificate, ...changes } }),
        NOW,
      );
      expect(levels(checks)).to.deep.equal(['Public URL: ok', `Certificate: ${expected} fix`]);
    });
});

describe('the doctor judges the API process', () => {
  const facts: ApiProcessFacts = {
    url: 'http://127.0.0.1:8080',
    readiness: { ready: true, database: 'ok', workers: 1, slots: 2 },
    metrics: { release: '0.1.0', trusted: 0, untrusted: 0 },
    trustedProxies: 0,
  };

  it('by its readiness', () => {
    expect(checkApiProcess(facts).level).to.equal('ok');
    const unready = { ready: false, database: 'unavailable', workers: 0, slots: 0 };
    expect(levels([checkApiProcess({ ...facts, readiness: unready })])).to.deep.equal([
      'API: error fix',
    ]);
    const gone = { error: 'ECONNREFUSED' };
    expect(levels([checkApiProcess({ ...facts, readiness: gone })])).to.deep.equal([
      'API: error fix',
    ]);
  });

  for (const [what, metrics, expected] of [
    ['no proxy', { trusted: 0, untrusted: 0 }, 'ok'],
    ['a trusted proxy', { trusted: 9, untrusted: 0 }, 'ok'],
    [
      'a trusted proxy and a caller that sends the header itself',
      { trusted: 9, untrusted: 1 },
      'ok',
    ],
    ['a proxy that is not trusted', { trusted: 0, untrusted: 9 }, 'warning fix'],
    ['no metrics', undefined, 'warning fix'],
  ] as const)
    it(`with ${what}`, () => {
      const given = { ...facts, metrics: metrics && { release: '0.1.0', ...metrics } };
      expect(levels([checkProxies(given)])).to.deep.equal([`Proxies: ${expected}`]);
    });
});

describe('the doctor judges releases', () => {
  for (const [one, other, apart] of [
    ['1.2.0', '1.2.0', 0],
    ['1.2.0', '1.2.9', 0],
    ['1.2.0', '1.3.0', 1],
    ['1.2.0', '1.4.0', 2],
    ['1.9.0', '2.0.0', 1],
    ['2.1.0', '1.9.0', 2],
    ['1.2.0', 'unknown', undefined],
    ['unknown', 'unknown', 0],
  ] as const)
    it(`which are ${apart} apart for ${one} and ${other}`, () => {
      expect(releasesApart(one, other)).to.equal(apart);
    });

  for (const [what, workers, controllers, expected] of [
    ['one release', ['1.2.0'], ['1.2.0'], ['workers: ok', 'controller: ok']],
    ['an upgrade in progress', ['1.1.0', '1.2.0'], ['1.1.0'], ['workers: ok', 'controller: ok']],
    [
      'workers two releases behind',
      ['1.0.0'],
      ['1.2.0'],
      ['workers: warning fix', 'controller: ok'],
    ],
    [
      'a controller two releases behind',
      ['1.2.0'],
      ['1.0.0'],
      ['workers: ok', 'controller: warning fix'],
    ],
    ['workers that report no release', [undefined], undefined, ['workers: ok', 'controller: ok']],
    ['no workers, and no controller in Prometheus', [], [], ['controller: ok']],
  ] as [string, (string | undefined)[], string[] | undefined, string[]][])
    it(`with ${what}`, () => {
      expect(levels(checkReleases({ api: '1.2.0', workers, controllers }))).to.deep.equal(
        expected.map(line => `Release of ${line}`),
      );
    });
});
