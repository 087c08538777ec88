import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { renderCall } from '../../support/http-call.ts';
import { type Installation, installation } from '../../support/installation.ts';
import {
  type Finding,
  type IsolationSite,
  type Report,
  startIsolationSite,
} from '../../support/pages/isolation-pages.ts';

/** The report of a page in a fresh browser context. */
const CLEAN: Finding = {
  cookie: '',
  sent: '',
  local: null,
  session: null,
  name: '',
  // The blank page of the slot and this page.
  history: 2,
  databases: [],
  caches: [],
  serviceWorkers: 0,
  served: 'the network',
  locked: 401,
  files: [],
  locks: [],
  used: false,
  persisted: false,
  shared: 1,
  blob: '',
  fonts: 0,
  mark: 'undefined',
  permissions: [],
  etag: 'none',
  hints: 'none',
};

describe('isolation of browser state', () => {
  let site: IsolationSite;
  let pressroom: Installation;
  /** The API key of another account. */
  let otherKey: string;
  /** The browser's initial permission states, whatever they are. */
  let permissions: string[];

  before(async () => {
    site = await startIsolationSite();
    pressroom = await installation({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${site.port}` },
    });
    const other = `another ${randomUUID()}`;
    await pressroom.accounts.createAccount(other, { plan: 'scale', intranet: true });
    ({ text: otherKey } = await pressroom.accounts.createKey(other, { name: 'another' }));
    permissions = (await look('before')).permissions;
  });
  after(async () => {
    await pressroom.stop();
    await site.close();
  });
  afterEach(() => {
    site.release();
    expect(site.failures).to.deep.equal([]);
  });

  const visit = async (path: string, who: string, key = pressroom.key): Promise<Report> => {
    const body = {
      url: `${site.url}${path}${path.includes('?') ? '&' : '?'}who=${who}`,
      wait_for_expression: 'window.done',
    };
    const answer = await renderCall(pressroom.api.port(), key, body);
    expect(answer.status, `${answer.status === 200 ? '' : answer.body} ${site.failures}`).to.equal(
      200,
    );
    return site.reports.get(who)!;
  };
  const look = (who: string, key?: string) => visit('/look', who, key);
  const findings = ({ cached: _cached, connection: _connection, ...found }: Report): Finding =>
    found;
  const expectClean = (report: Report) =>
    expect(findings(report)).to.deep.equal({ ...CLEAN, permissions });
  const chrome = () => pressroom.worker.worker.chromes().map(({ pid }) => pid);

  it('keeps the state of a render for its own next page', async () => {
    const own = await visit('/leave', 'first');
    expect(findings(own)).to.deep.include({
      cookie: 'mark=left',
      sent: 'hidden=left; mark=left',
      local: 'left',
      session: 'left',
      name: 'left',
      databases: ['left'],
      caches: ['left'],
      serviceWorkers: 1,
      served: 'the service worker',
      locked: 200,
      files: ['left'],
      locks: ['left'],
      used: true,
      blob: 'left',
      fonts: 1,
      mark: 'left',
      etag: '"left"',
    });
    expect(own.history).to.be.greaterThan(CLEAN.history);
    expect(own.hints).to.not.equal('none');
    expect(Number(own.cached)).to.equal(site.given());
  });

  for (const [whose, key] of [
    ['the same account', () => pressroom.key],
    ['another account', () => otherKey],
  ] as const) {
    it(`hides the state from later renders of ${whose} in the same Chrome`, async () => {
      await pressroom.worker.until({ busy: 0, ready: 2 });
      const before = chrome();
      const first = await visit('/leave', 'first');
      const connections = new Set([first.connection]);
      for (let i = 0; i < 4; i++) {
        const given = site.given();
        const next = await look(`next-${i}`, key());
        expectClean(next);
        expect(Number(next.cached), 'the server received the request').to.be.greaterThan(given);
        expect(connections.has(next.connection), 'a connection was reused').to.equal(false);
        connections.add(next.connection);
      }
      expect(chrome()).to.deep.equal(before);
    });

    it(`hides the state from a concurrent render of ${whose}`, async () => {
      const received = site.received.length;
      const first = visit('/leave?hold=1', 'first');
      await site.held();
      const given = site.given();
      const beside = await look('beside', key());
      expectClean(beside);
      expect(Number(beside.cached)).to.be.greaterThan(given);
      site.release();
      await first;
      expect(site.received.slice(received), 'each receives only its own messages').to.deep.equal([
        ['beside'],
        ['first'],
      ]);
    });
  }
});
