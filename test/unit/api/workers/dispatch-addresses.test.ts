import { mock } from 'node:test';
import { setImmediate as loopTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { readStatus, unusableBecause } from '../../../../api/workers/status-link.ts';
import {
  parseWorkerSources,
  systemResolve,
  watchName,
} from '../../../../api/workers/worker-addresses.ts';
import { PROTOCOL } from '../../../../common/protocol.ts';
import { workerStatus } from '../../../support/fake-slots.ts';

describe('the addresses of workers', () => {
  it('are read from ws, wss and dns entries, each once', () => {
    expect(
      parseWorkerSources([
        'ws://10.0.0.3:9222',
        'wss://worker.example:443/',
        'ws://[::1]:80',
        'dns://pool.ns.svc:9222',
        'ws://10.0.0.3:9222/',
      ]),
    ).to.deep.equal([
      { kind: 'address', address: 'ws://10.0.0.3:9222' },
      { kind: 'address', address: 'wss://worker.example:443' },
      { kind: 'address', address: 'ws://[::1]:80' },
      { kind: 'name', name: 'pool.ns.svc', port: 9222 },
    ]);
  });

  for (const word of [
    'worker:9222',
    'http://worker:9222',
    'ws://worker',
    'ws://worker:0',
    'ws://worker:99999',
    'ws://worker:1/v1',
    'ws://worker:1?x',
    'dns://:53',
    '',
  ])
    it(`are rejected by name when one is ${word || 'empty'}`, () => {
      expect(() => parseWorkerSources(['ws://good:1', word])).to.throw(
        `PRESSROOM_WORKERS: \`${word}\` is not a worker address. Accepted: ws://host:port`,
      );
    });

  it('are rejected with credentials, which the message does not show', () => {
    expect(() => parseWorkerSources(['ws://user:hush@worker:1'])).to.throw(
      /^(?!.*hush).*\(hidden\)/,
    );
  });
});

describe('the DNS watch of the workers', () => {
  const lines: { level: number; msg: string }[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  let answers: (string[] | Error)[];
  let seen: string[][];
  let asked: number;
  let watch: { close(): void };

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    lines.length = 0;
    answers = [];
    seen = [];
    asked = 0;
    const resolve = async (name: string) => {
      expect(name).to.equal('pool.ns.svc');
      const answer = answers[asked++] ?? [];
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const begin = () =>
      watchName({
        name: 'pool.ns.svc',
        port: 9222,
        everyMs: 2_000,
        resolve,
        log,
        onAddresses: found => seen.push(found),
      });
    answers = [['10.0.0.1', 'fd00::2'], new Error('SERVFAIL'), new Error('SERVFAIL'), ['10.0.0.3']];
    watch = begin();
  });

  afterEach(() => {
    watch.close();
    mock.timers.reset();
  });

  const pass = async (ms: number) => {
    mock.timers.tick(ms);
    await loopTurn();
  };

  it('reports every address of every lookup, once every 2 s', async () => {
    await loopTurn();
    expect(seen).to.deep.equal([['ws://10.0.0.1:9222', 'ws://[fd00::2]:9222']]);
    await pass(1_999);
    expect(asked).to.equal(1);
    await pass(1);
    expect(asked).to.equal(2);
  });

  it('keeps its addresses when lookups fail, and logs the first failure and the recovery', async () => {
    await loopTurn();
    await pass(2_000);
    await pass(2_000);
    expect(seen).to.have.length(1);
    expect(lines.map(line => line.msg)).to.deep.equal([
      'the host name of the workers does not resolve; known workers stay in use',
    ]);
    await pass(2_000);
    expect(seen[1]).to.deep.equal(['ws://10.0.0.3:9222']);
    expect(lines.map(line => line.msg).slice(1)).to.deep.equal([
      'the host name of the workers resolves again',
    ]);
  });

  it('does not look up after it is closed, even during a lookup', async () => {
    watch.close();
    await loopTurn();
    await pass(10_000);
    expect([asked, seen]).to.deep.equal([1, []]);
  });

  it('uses the resolver of the system by default, for one family only', async () => {
    const found = await systemResolve('localhost');
    expect(found).to.have.length.above(0);
    expect(new Set(found.map(address => address.includes(':'))).size).to.equal(1);
  });
});

describe('the status of a worker', () => {
  const status = workerStatus(2, { busy: 1 });

  it('is read from JSON, and fields of a later release are ignored', () => {
    expect(readStatus(JSON.stringify({ ...status, mood: 'good' }))).to.deep.equal(status);
  });

  for (const [what, message] of [
    ['no text', new ArrayBuffer(4)],
    ['no JSON', '{'],
    ['no object', '3'],
    ['without a field', JSON.stringify({ ...status, ready: undefined })],
    ['with a count below zero', JSON.stringify({ ...status, ready: -1 })],
    ['with an unknown state of Chrome', JSON.stringify({ ...status, chrome: 'asleep' })],
  ] as const)
    it(`is rejected when it is ${what}`, () => {
      expect(readStatus(message)).to.equal(undefined);
    });

  it('makes a worker unusable that serves another pool or uses an unknown protocol', () => {
    expect(unusableBecause(status, 'default')).to.equal(undefined);
    expect(unusableBecause({ ...status, protocol: PROTOCOL - 1 }, 'default')).to.equal(undefined);
    expect(unusableBecause(status, 'other')).to.equal('it belongs to the pool default');
    for (const protocol of [PROTOCOL + 1, PROTOCOL - 2])
      expect(unusableBecause({ ...status, protocol }, 'default')).to.include(
        `protocol ${protocol}`,
      );
  });
});
