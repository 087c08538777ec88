import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as ask } from 'node:https';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { skip } from '../../support/skip.ts';
import { apiRequest, type Json, PATCH } from './api-request.ts';
import { BUILD_LIMIT_MS } from './binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './cluster.ts';
import { type FaultyApiServer, faultyApiServer } from './faulty-api-server.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('faulty API server proxy', () => {
  let cluster: Cluster;
  let proxy: FaultyApiServer;
  let count = 0;
  const watches: { destroy(): void }[] = [];

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster();
    if (why !== undefined) skip(this, why);
    cluster = await startCluster();
  });
  after(() => cluster?.stop());
  beforeEach(async () => {
    proxy = await faultyApiServer(cluster);
  });
  afterEach(async () => {
    for (const each of watches.splice(0)) each.destroy();
    await proxy.close();
  });

  const through = (method: string, path: string, body?: unknown) =>
    apiRequest(
      { ...cluster.admin, server: proxy.server },
      method,
      path,
      body,
      method === 'PATCH' ? PATCH.merge : undefined,
    );
  const failureOf = (call: Promise<unknown>) =>
    call.then(
      () => 'none',
      (error: NodeJS.ErrnoException) => error.code ?? error.message,
    );
  const map = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
  const makeMap = async () => {
    const name = `map-${count++}`;
    expect((await cluster.request('POST', MAPS, map(name))).status).to.equal(201);
    return name;
  };

  /** Starts a watch of all ConfigMaps and waits for its first event. */
  async function watch() {
    const events: Json[] = [];
    const call = ask(`${proxy.server}${MAPS}?watch=true`, {
      ca: readFileSync(cluster.admin.caFile),
      agent: false,
      headers: { authorization: `Bearer ${cluster.admin.token}` },
    });
    watches.push(call);
    const end = Promise.withResolvers<string>();
    call.on('error', (error: NodeJS.ErrnoException) => end.resolve(error.code!));
    call.end();
    const [response] = await once(call, 'response');
    response
      .once('error', (error: NodeJS.ErrnoException) => end.resolve(error.code!))
      .once('end', () => end.resolve('end'));
    // The reader also emits errors of the stream.
    createInterface({ input: response })
      .on('line', line => events.push(JSON.parse(line)))
      .on('error', () => {});
    const names = () => events.map(({ object }) => object.metadata.name);
    const name = await makeMap();
    await eventually(() => expect(names()).to.include(name));
    return { events, names, end: end.promise };
  }

  it('forwards calls without a rule', async () => {
    const { status, body } = await through('POST', MAPS, map('through'));
    expect(status).to.equal(201);
    expect(body.metadata.name).to.equal('through');
    expect(proxy.calls()).to.have.length(1);
  });

  it('returns errors for a limited number of calls', async () => {
    const rule = proxy.rule({
      do: { status: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
      times: 2,
    });
    const responses = [
      await through('GET', MAPS),
      await through('GET', MAPS),
      await through('GET', MAPS),
    ];
    expect(responses.map(({ status }) => status)).to.deep.equal([429, 429, 200]);
    expect(responses[0]!.body).to.include({ kind: 'Status', reason: 'TooManyRequests', code: 429 });
    expect(rule.hits()).to.equal(2);
  });

  it('delays calls', async () => {
    proxy.rule({ matches: ({ method }) => method === 'GET', do: { delayMs: 300 } });
    const began = performance.now();
    expect((await through('GET', MAPS)).status).to.equal(200);
    expect(performance.now() - began).to.be.at.least(290);
  });

  it('resets calls before they are processed', async () => {
    proxy.rule({ do: 'reset', times: 1 });
    expect(await failureOf(through('POST', MAPS, map('unprocessed')))).to.equal('ECONNRESET');
    expect(await cluster.get(`${MAPS}/unprocessed`)).to.equal(undefined);
  });

  it('resets calls after they are processed', async () => {
    proxy.rule({ do: 'reset-after', times: 1 });
    expect(await failureOf(through('POST', MAPS, map('done')))).to.equal('ECONNRESET');
    expect(await cluster.get(`${MAPS}/done`)).to.not.equal(undefined);
  });

  it('does not respond until it is healed', async () => {
    proxy.rule({ do: 'silence' });
    let over = false;
    const call = failureOf(through('GET', MAPS)).finally(() => {
      over = true;
    });
    await eventually(() => expect(proxy.calls()).to.have.length(1));
    expect(over).to.equal(false);
    proxy.heal();
    expect(await call).to.be.oneOf(['ECONNRESET', 'EPIPE']);
    expect((await through('GET', MAPS)).status).to.equal(200);
  });

  it('cuts watches', async () => {
    const { end } = await watch();
    expect(proxy.watches()).to.have.length(1);
    expect(proxy.cutWatches()).to.equal(1);
    expect(await end).to.equal('ECONNRESET');
  });

  it('expires watches', async () => {
    const { events, end } = await watch();
    proxy.expireWatches();
    expect(await end).to.equal('end');
    expect(events.at(-1))
      .to.deep.include({ type: 'ERROR' })
      .and.to.have.nested.property('object.code', 410);
  });

  it('silences watches until it is healed', async () => {
    const { names, end } = await watch();
    proxy.silenceWatches();
    const missed = await makeMap();
    const other = await watch(); // started later, not silenced
    await eventually(() => expect(other.names()).to.include(missed));
    expect(names()).to.not.include(missed);
    proxy.heal();
    expect(await end).to.equal('ECONNRESET');
  });

  it('breaks watches when the API server breaks them', async function () {
    // As long as an API server may take to start beside the real node.
    this.timeout(200_000);
    const { end } = await watch();
    await cluster.restartApiServer();
    expect(await end).to.equal('ECONNRESET');
  });
});
