// @proves audit-log, mcp-discovery

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { OperatorAuditPage } from '../../../api/console/contract/users.ts';
import { ownPort } from '../../fault/harness/ports.ts';
import { asyncClient } from '../../support/async-fixture.ts';
import { cookieClient } from '../../support/cookie-client.ts';
import { eventually } from '../../support/eventually.ts';
import { readmeCommand } from '../../support/readme-commands.ts';
import { groupMembers, type NpmStart, npmStart } from '../../support/servers/npm-start.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const keyIn = (text: string) => /pressroom_live_\w+/.exec(text)?.[0];

const render = (url: string, key: string, options = {}) =>
  fetch(`${url}/v1/render`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ html: '<h1>Hello</h1>', ...options }),
  });

/** Waits until the metrics of the process contain a line that matches. */
const untilMetrics = (operationsPort: number, line: RegExp) =>
  eventually(async () => {
    const metrics = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
    expect(metrics).to.match(line);
  });

const allGone = (group: number) =>
  eventually(() => {
    expect(groupMembers(group).map(({ command }) => command)).to.deep.equal([]);
  });

describe('npm start', () => {
  const at = temporaryFolder();
  const started: NpmStart[] = [];
  let key: string;

  const start = async (options?: Parameters<typeof npmStart>[1]) => {
    const pressroom = await npmStart(at('data'), options);
    started.push(pressroom);
    return pressroom;
  };

  const end = async ({ killLauncher, leader }: NpmStart) => {
    killLauncher();
    if (groupMembers(leader).length > 0) process.kill(-leader, 'SIGKILL');
    await allGone(leader);
  };
  afterEach(async () => {
    for (const each of started.splice(0)) await end(each);
  });

  it('creates an account on the first start, and prints its key with a working example request and a setup link', async () => {
    const { out, url, ctrlC, ended, leader } = await start();
    // It is printed shortly after the line with the address.
    const call = await eventually(() => {
      const found = /^ *curl .* render\.pdf$/m.exec(out())?.[0];
      if (found === undefined) throw new Error(`no call yet: ${out()}`);
      return found;
    });
    key = keyIn(out())!;
    expect(call).to.include(key);
    expect(out()).to.include(
      'on the scale plan (8 concurrent renders). This machine runs 2 at a time and queues the rest',
    );
    expect(out()).to.not.match(/end of life/);
    await promisify(execFile)('/bin/sh', ['-c', call], { cwd: at() });
    expect((await readFile(at('render.pdf'))).subarray(0, 5).toString()).to.equal('%PDF-');
    await rm(at('render.pdf'));
    await promisify(execFile)(
      '/bin/sh',
      [
        '-c',
        readmeCommand('curl').replace('http://localhost:8080', /http:\S+?:\d+/.exec(call)![0]),
      ],
      { cwd: at(), env: { ...process.env, PRESSROOM_KEY: key } },
    );
    expect((await readFile(at('render.pdf'))).subarray(0, 5).toString()).to.equal('%PDF-');
    for (const name of ['', 'pepper', 'secret'])
      expect((await stat(at('data', name))).mode & 0o077, name).to.equal(0);

    const programs = groupMembers(leader).map(({ command }) => command);
    expect(programs.some(command => command.includes('--dbpath'))).to.equal(true);
    expect(programs.some(command => command.includes('--remote-debugging-pipe'))).to.equal(true);
    if (process.getuid?.() === 0) {
      const userOf = async (flag: string) =>
        (
          await stat(
            `/proc/${groupMembers(leader).find(({ command }) => command.includes(flag))!.pid}`,
          )
        ).uid;
      expect(
        new Set([0, await userOf('--dbpath'), await userOf('--remote-debugging-pipe')]),
      ).to.have.length(3);
    }
    const link = await eventually(
      () => new URL(/^Open the dashboard: (\S+) \(works once\)$/m.exec(out())![1]!),
    );
    expect(link.origin).to.equal(url);
    const ada = cookieClient(Number(link.port));
    const answer = await ada.post(link.pathname, {
      ...{ token: link.hash.slice(1), name: 'Ada' },
      ...{ email: 'ada@example.com', password: 'correct horse battery' },
    });
    expect(answer.status).to.equal(303);
    const { body } = await ada.api('GET', '/operator/audit');
    const { items }: OperatorAuditPage = JSON.parse(body.toString());
    expect(
      items.filter(({ actor }) => actor === 'first start').map(({ action }) => action),
    ).to.have.members(['account.created', 'key.created']);
    expect(out()).not.to.include('/mcp');
    ctrlC();
    expect(await ended).to.equal(0);
    expect(groupMembers(leader)).to.deep.equal([]);
  });

  describe('on a later start, with configured ports', () => {
    let later: NpmStart;
    let operations: number;

    before(async () => {
      operations = await ownPort();
      later = await npmStart(at('data'), {
        env: {
          PRESSROOM_SLOTS: '1',
          PRESSROOM_PORT: String(await ownPort()),
          PRESSROOM_OPERATIONS_PORT: String(operations),
        },
      });
    });
    after(() => end(later));

    it('keeps the account and its key, and does not print the key again', async () => {
      expect(keyIn(later.out())).to.equal(undefined);
      expect((await render(later.url, key)).status).to.equal(200);
    });

    it('prints no setup link for a dashboard that is set up', async () => {
      const line = await eventually(() => /^Dashboard: .*$/m.exec(later.out())![0]);
      expect(line).to.equal(`Dashboard: ${later.url}/app`);
    });

    it('prints the address for MCP clients', async () => {
      const mcpUrl = await eventually(
        () => /^Connect Claude Code.*: (\S+) \(/m.exec(later.out())![1]!,
      );
      expect(mcpUrl).to.equal(`${later.url}/mcp`);
      const answer = await fetch(mcpUrl, { method: 'POST', body: '{}' });
      expect(answer.status).to.equal(401);
      const [, metadata] = /resource_metadata="([^"]+)"/.exec(
        answer.headers.get('www-authenticate')!,
      )!;
      expect(await (await fetch(metadata!)).json()).to.include({ resource: mcpUrl });
    });

    it('finishes running and queued renders on Ctrl-C', async () => {
      const calls = [1, 2, 3].map(() => render(later.url, key, { wait_delay: '1s' }));
      await untilMetrics(operations, /^pressroom_queue_depth(\{.*\})? 2$/m);
      later.ctrlC();
      expect((await Promise.all(calls)).map(({ status }) => status)).to.deep.equal([200, 200, 200]);
      expect(await later.ended).to.equal(0);
    });
  });

  it('leaves no mongod and no Chrome when it is killed, and has keys and queued renders after a restart', async () => {
    const first = await start({ env: { PRESSROOM_SLOTS: '1' } });
    const client = (url: string) => asyncClient(Number(new URL(url).port), key);
    expect((await render(first.url, key)).status).to.equal(200);
    const { id: running } = await client(first.url).submit({ html: 'a', wait_delay: '10s' });
    const { id: queued } = await client(first.url).submit({ html: 'b' });
    first.killLeader();
    expect(await first.ended).to.equal(137);
    expect(groupMembers(first.leader)).to.deep.equal([]);

    const second = await start();
    const answer = await render(second.url, key);
    expect(answer.status).to.equal(200);
    expect(Number(answer.headers.get('x-usage-count'))).to.be.greaterThan(2);
    for (const id of [running, queued])
      expect((await client(second.url).end(id)).status).to.equal('succeeded');
    second.ctrlC();
    expect(await second.ended).to.equal(0);
  });

  it('logs a readable line for each request on a terminal, and none within the text of the start', async () => {
    const pressroom = await npmStart(at('other'), { terminal: true, env: { NO_COLOR: '1' } });
    started.push(pressroom);
    const { out, url, ctrlC, ended } = pressroom;
    await eventually(() => expect(out()).to.include('-o render.pdf'));
    const text = /Pressroom is ready.*-o render\.pdf/s.exec(out())![0];
    expect(text).to.not.match(/INFO|WARN|\{"level"/);
    expect(
      out()
        .split('\n')
        .filter(line => line.includes('WARN')),
    ).to.deep.equal([]);
    const { headers } = await render(url, keyIn(out())!);
    await fetch(`${url}/healthz`);
    await fetch(`${url}/app/`);
    await fetch(`${url}/nothing`);
    await eventually(() => expect(out()).to.include('404 not_found'));
    const lines = out()
      .split('\r\n')
      .filter(line => /: (GET|POST) /.test(line));
    expect(lines[0]).to.match(
      /^\[\d\d:\d\d:\d\d\] INFO: POST \/v1\/render 200: [\d.]+ ms, 1 page, \d+ KiB, request /,
    );
    expect(lines[0]!.endsWith(headers.get('x-request-id')!)).to.equal(true);
    expect(lines[1]).to.match(/INFO: GET \/nothing 404 not_found: /);
    expect(lines).to.have.length(2);
    ctrlC();
    expect(await ended).to.equal(0);
    expect(out()).to.match(/Stopping\.\r\n(.*\r\n)?.*INFO: stopped/);
  });

  it('logs a JSON line for each request without a terminal, from the configured level', async () => {
    const jsonLines = (text: string) =>
      text.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []));
    const requests = async (options?: Parameters<typeof start>[0]) => {
      const { out, url, ctrlC, ended } = await start(options);
      expect((await render(url, key)).status).to.equal(200);
      await fetch(`${url}/healthz`);
      ctrlC();
      expect(await ended).to.equal(0);
      return jsonLines(out()).filter(({ msg }) => msg === 'request');
    };
    const [line, ...others] = await requests();
    expect(line).to.include({ level: 'info', process: 'standalone', path: '/v1/render', pages: 1 });
    expect(others).to.deep.equal([]);
    const debug = await requests({ env: { PRESSROOM_LOG_LEVEL: 'debug' } });
    expect(debug.map(({ path }) => path)).to.include('/healthz');
    expect(await requests({ env: { PRESSROOM_LOG_LEVEL: 'warn' } })).to.deep.equal([]);
  });

  it('stops when its launcher is killed', async () => {
    const { killLauncher, leader, out } = await start();
    killLauncher();
    await allGone(leader);
    expect(out()).to.include('Stopping.');
  });

  it('ends when mongod dies during a render, and names the log of mongod', async () => {
    const operations = await ownPort();
    const { url, leader, ended, out } = await start({
      env: { PRESSROOM_OPERATIONS_PORT: String(operations) },
    });
    const answered = render(url, key, { wait_delay: '2s' }).catch(() => {});
    await untilMetrics(operations, /^pressroom_leases_held(\{.*\})? 1$/m);
    const mongod = groupMembers(leader).find(
      ({ command }) => command.includes('--dbpath') && !command.startsWith('/bin/sh'),
    )!;
    process.kill(mongod.pid, 'SIGKILL');
    expect(await ended).to.equal(1);
    await answered;
    expect(out()).to.include('mongod ended unexpectedly').and.include('mongod.log');
  });

  it('rejects a second start on the same data folder without affecting the first', async () => {
    const first = await start();
    const second = await start({ ready: false });
    expect(await second.ended).to.equal(1);
    expect(second.out())
      .to.include('is already running')
      .and.include(String(first.leader))
      .and.include('PRESSROOM_DATA_DIR');
    expect((await render(first.url, key)).status).to.equal(200);
    first.ctrlC();
    expect(await first.ended).to.equal(0);
  });

  it('names a port that is in use and the variable that changes it', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const variable of ['PRESSROOM_PORT', 'PRESSROOM_OPERATIONS_PORT']) {
        const { ended, out } = await start({
          ready: false,
          env: {
            [variable]: String(port),
            PRESSROOM_OPERATIONS_HOST: '0.0.0.0',
            PRESSROOM_HOST: '0.0.0.0',
          },
        });
        expect(await ended).to.equal(1);
        expect(out()).to.include(`Port ${port} is in use`).and.include(variable);
      }
    } finally {
      server.close();
    }
  });

  it('reports all invalid variables at once and starts nothing', async () => {
    const { ended, out } = await start({
      ready: false,
      env: { PRESSROOM_SLOTS: 'many', PRESSROOM_CHROME_SANDBOX: 'maybe' },
    });
    expect(await ended).to.equal(2);
    expect(out()).to.include('PRESSROOM_SLOTS=many').and.include('PRESSROOM_CHROME_SANDBOX=maybe');
  });
});
