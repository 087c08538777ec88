// @proves GET /healthz, GET /readyz

import { connect } from 'node:net';
import { expect } from 'chai';
import { renderHead } from '../../support/http-fixture.ts';
import { httpSuite } from '../../support/http-suite.ts';

const GOOD = JSON.stringify({ html: '<p>Hello</p>' });

describe('the lifecycle of the HTTP server', () => {
  const suite = httpSuite();

  describe('health checks', () => {
    it('reports ready when the database answers and a worker is available', async () => {
      await suite.connect();
      expect(
        JSON.parse((await suite.http.ask('GET /healthz HTTP/1.1')).body.toString()),
      ).to.deep.equal({
        status: 'ok',
      });
      const answer = await suite.http.ask('GET /readyz HTTP/1.1');
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.body.toString())).to.deep.equal({
        status: 'ready',
        checks: { database: { status: 'ok' }, workers: { ready: 2, slots: 4 } },
      });
    });

    it('reports unavailable but alive when the database fails', async () => {
      await suite.connect();
      await suite.fixture.failCommands('ping', { errorCode: 11602 });
      const answer = await suite.http.ask('GET /readyz HTTP/1.1');
      expect(answer.status).to.equal(503);
      expect(JSON.parse(answer.body.toString())).to.deep.include({ status: 'unavailable' });
      expect(JSON.parse(answer.body.toString()).checks.database).to.deep.equal({
        status: 'unavailable',
      });
      expect((await suite.http.ask('GET /healthz HTTP/1.1')).status).to.equal(200);
    });

    it('reports unavailable without a worker and when a check does not finish', async () => {
      const never = new Promise<never>(() => {});
      await suite.connect({
        health: { database: async () => {}, workers: () => ({ ready: 0, slots: 0 }) },
      });
      expect((await suite.http.ask('GET /readyz HTTP/1.1')).status).to.equal(503);
      await suite.http.close();
      await suite.connect({ health: { database: () => never, workers: () => never } });
      const answer = await suite.http.ask('GET /readyz HTTP/1.1');
      expect(JSON.parse(answer.body.toString()).checks).to.deep.equal({
        database: { status: 'unavailable' },
        workers: { ready: 0, slots: 0 },
      });
    });

    it('caches the check results between probes', async () => {
      let checks = 0;
      await suite.connect({
        health: {
          database: async () => {
            checks += 1;
          },
          workers: () => ({ ready: 1, slots: 1 }),
        },
      });
      for (let i = 0; i < 20; i += 1) await suite.http.ask('GET /readyz HTTP/1.1');
      expect(checks).to.be.within(1, 2);
    });
  });

  describe('drain', () => {
    const connectionRefused = (port: number) =>
      new Promise<void>(resolve => connect(port, '127.0.0.1').once('error', () => resolve()));
    /** Starts a render that runs until `finish` is called. */
    async function startRender() {
      const { text } = await suite.fixture.account('scale');
      const began = Promise.withResolvers<void>();
      const finish = Promise.withResolvers<void>();
      suite.http.state.during = () => {
        began.resolve();
        return finish.promise;
      };
      const connection = await suite.http.open();
      connection.send(`${renderHead(text, GOOD.length)}${GOOD}`);
      await began.promise;
      return { connection, finish: finish.resolve };
    }

    it('finishes running renders, sends Connection: close and accepts no new connections', async () => {
      const idle = await suite.connect();
      const { connection, finish } = await startRender();
      const port = suite.http.server.port();
      const stopped = suite.http.stop();
      await idle.closed;
      await connectionRefused(port);
      finish();
      const answer = await connection.answer();
      expect(answer.status).to.equal(200);
      expect(answer.headers['connection']).to.equal('close');
      await stopped;
    });

    it('accepts requests during the drain delay and closes each connection after the response', async () => {
      const kept = await suite.connect({ server: { drainDelayMs: 300 } });
      kept.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      expect((await kept.answer()).headers['connection']).to.equal('keep-alive');
      const stopped = suite.http.stop();
      kept.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      const last = await kept.answer();
      expect(last.status).to.equal(200);
      expect(last.headers['connection']).to.equal('close');
      expect((await suite.http.ask('GET /healthz HTTP/1.1')).status).to.equal(200);
      const port = suite.http.server.port();
      await stopped;
      await connectionRefused(port);
    });

    it('closes an idle keep-alive connection', async () => {
      const connection = await suite.connect();
      connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await connection.answer();
      await suite.http.stop();
      await connection.closed;
    });

    it('stops immediately when the deadline passes', async () => {
      await suite.connect({ server: { drainDelayMs: 60_000 } });
      const { connection, finish } = await startRender();
      const deadline = new AbortController();
      const stopped = suite.http.stop(deadline.signal);
      deadline.abort();
      await stopped;
      await connection.closed;
      finish();
    });
  });
});
