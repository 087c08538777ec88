import { EventEmitter } from 'node:events';
import { mock } from 'node:test';
import { expect } from 'chai';
import { type MongoClient, MongoServerError } from 'mongodb';
import { pino } from 'pino';
import { findPrimary } from '../../../../api/store/primary.ts';
import { NoPrimary } from '../../../../api/store/store.ts';

describe('the MongoDB primary', () => {
  const lines: Record<string, unknown>[] = [];
  let nowMs = 0;
  beforeEach(() => {
    nowMs = 0;
    lines.length = 0;
    mock.timers.enable({ apis: ['setTimeout'] });
  });
  afterEach(() => mock.timers.reset());

  const pass = (ms: number) => {
    // In steps, so that the clock is correct when a timer fires.
    for (const end = nowMs + ms; nowMs < end; ) {
      nowMs += 100;
      mock.timers.tick(100);
    }
  };

  function fixture() {
    const options = { hosts: ['a:1', 'b:1'], replicaSet: 'rs', credentials: { username: 'press' } };
    const client = Object.assign(new EventEmitter(), { options });
    const log = pino(
      { base: null, timestamp: false, formatters: { level: level => ({ level }) } },
      { write: line => void lines.push(JSON.parse(line)) },
    );
    const primary = findPrimary(client as unknown as MongoClient, log, () => nowMs);
    /** Reports a new state of the servers, as the driver's monitors do. */
    const seen = (types: Record<string, string | Error>) => {
      const servers = Object.entries(types).map(([address, type]) => ({
        address,
        type: type instanceof Error ? 'Unknown' : type,
        error: type instanceof Error ? type : null,
        isWritable: type === 'RSPrimary',
      }));
      client.emit('topologyDescriptionChanged', {
        newDescription: { servers: new Map(servers.map(each => [each.address, each])) },
      });
    };
    return { primary, seen };
  }

  it('logs nothing when a change of the primary takes less than a second', () => {
    const { primary, seen } = fixture();
    seen({ 'a:1': 'RSPrimary', 'b:1': 'RSSecondary' });
    primary.watch();
    seen({ 'a:1': 'RSSecondary', 'b:1': 'RSSecondary' });
    pass(900);
    expect(primary.missingMs()).to.equal(900);
    seen({ 'a:1': 'RSSecondary', 'b:1': 'RSPrimary' });
    pass(60_000);
    expect(primary.missingMs()).to.equal(0);
    expect(lines).to.deep.equal([]);
  });

  it('logs an outage after a second, then every ten seconds, and its end', () => {
    const { primary, seen } = fixture();
    seen({ 'a:1': 'RSPrimary', 'b:1': 'RSGhost' });
    primary.watch();
    seen({ 'a:1': new Error('connect ECONNREFUSED'), 'b:1': 'RSGhost' });
    pass(25_000);
    const members = {
      'a:1': 'connect ECONNREFUSED',
      'b:1': 'is starting up, or its replica set was never initiated (rs.initiate)',
    };
    const line = (missingMs: number, level: string, calls: string) => ({
      level,
      missingMs,
      calls,
      members,
      msg: 'MongoDB has no reachable primary',
    });
    expect(lines).to.deep.equal([
      line(1_000, 'warn', 'wait'),
      line(11_000, 'warn', 'wait'),
      line(21_000, 'error', 'are rejected'),
    ]);
    seen({ 'a:1': 'RSPrimary', 'b:1': 'RSSecondary' });
    pass(60_000);
    expect(lines.slice(3)).to.deep.equal([
      { level: 'info', missingMs: 25_000, msg: 'MongoDB has a primary again' },
    ]);
    primary.stop();
  });

  it('rejects operations after 12 s without a primary until there is one', () => {
    const { primary, seen } = fixture();
    expect(() => primary.throwIfMissing()).to.not.throw();
    seen({ 'a:1': new Error('x') });
    pass(11_900);
    expect(() => primary.throwIfMissing()).to.not.throw();
    pass(100);
    expect(() => primary.throwIfMissing()).to.throw(NoPrimary, 'for 12 s');
    seen({ 'a:1': 'RSPrimary' });
    expect(() => primary.throwIfMissing()).to.not.throw();
  });

  it('can be awaited until it is found or the wait is aborted', async () => {
    const { primary, seen } = fixture();
    seen({ 'a:1': 'RSPrimary' });
    await primary.there(new AbortController().signal);
    seen({ 'a:1': new Error('x') });
    const abort = new AbortController();
    const aborted = primary.there(abort.signal).catch((error: Error) => error.message);
    const found = primary.there(new AbortController().signal);
    abort.abort(new Error('enough'));
    expect(await aborted).to.equal('enough');
    expect(await primary.there(abort.signal).catch((error: Error) => error.message)).to.equal(
      'enough',
    );
    seen({ 'a:1': 'RSPrimary' });
    await found;
  });

  it('logs a rejected login immediately and at most every ten seconds', () => {
    const { primary, seen } = fixture();
    seen({ 'a:1': 'RSPrimary' });
    primary.watch();
    for (let count = 0; count < 30; count++) {
      seen({ 'a:1': new MongoServerError({ message: 'Authentication failed.', code: 18 }) });
      pass(200);
      seen({ 'a:1': 'RSPrimary' });
      pass(300);
    }
    const line = {
      level: 'error',
      member: 'a:1',
      user: 'press',
      msg: 'MongoDB rejected the login; the user or password has changed',
    };
    expect(lines).to.deep.equal([line, line]);
  });

  it('reports servers that are not members of the replica set', () => {
    const { primary, seen } = fixture();
    seen({});
    const state = 'is not a member of the replica set `rs`';
    expect(primary.members()).to.deep.equal({ 'a:1': state, 'b:1': state });
  });
});
