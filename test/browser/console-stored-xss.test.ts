// Stored XSS: markup in texts from users, API callers and pages stays text on every screen.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';

const HOSTILE = `<img src=x onerror=alert(1)>"'><script>alert(2)</script>`;
const RENDER_ID = '019ab000-0000-7000-8000-0000000000aa';

describe('hostile texts in the dashboard', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let owner: TestUser;

  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    [browser, owner] = await Promise.all([
      consoleBrowser(fixture),
      fixture.createUser({ role: 'owner', operator: true }),
    ]);
    const account = `/accounts/${fixture.accountId}`;
    const name = `${HOSTILE} ${Date.now()}`;
    await owner.good('PATCH', '/me', { name: HOSTILE });
    await owner.good('PATCH', account, { name });
    const { key } = await owner.good<{ key: { id: string } }>('POST', `${account}/keys`, {
      name: HOSTILE,
    });
    await owner
      .good('POST', `${account}/team/invitations`, {
        email: `"<img/src=x>"@example.com`,
        role: 'viewer',
      })
      .catch(() => {});
    const { console: kept } = fixture.store;
    await kept.sessions.updateMany(
      { user: owner.id },
      { $set: { userAgent: HOSTILE, ip: HOSTILE } },
    );
    const at = new Date();
    await kept.renders.insertOne({
      _id: RENDER_ID,
      account: fixture.accountId,
      at,
      key: key.id,
      via: 'api',
      outcome: 'error',
      code: HOSTILE,
      reason: 'page_status',
      message: HOSTILE,
      sandbox: false,
      counted: false,
      source: 'url',
      url: `javascript:alert(3)//${HOSTILE}`,
      options: { format: HOSTILE, [HOSTILE.replaceAll('.', '')]: HOSTILE },
      timings: { admit: 1, load: 10 },
      totalMs: 11,
      console: [{ level: 'error', text: HOSTILE }],
    });
    const counts = {
      ok: 1,
      sandbox: 0,
      failed: 1,
      bytes: 1,
      pages: 1,
      durations: {},
      lastAt: at,
      flushes: [],
    };
    const expiresAt = new Date(at.getTime() + 3600e3);
    await kept.oauthGrants.insertOne({
      _id: 'a grant',
      user: owner.id,
      account: fixture.accountId,
      clientId: HOSTILE,
      clientName: HOSTILE,
      redirect: `javascript:alert(5)//${HOSTILE}`,
      scope: 'render',
      createdAt: at,
      expiresAt,
    });
    const ended = {
      account: fixture.accountId,
      user: owner.id,
      actor: `the app ${HOSTILE}`,
      action: 'app.disconnected',
      target: HOSTILE,
    };
    await kept.audit.insertOne({ _id: 'aud_app', at, ...ended, details: { by: HOSTILE } });
    await kept.usageDays.insertOne({
      _id: { account: fixture.accountId, day: at.toISOString().slice(0, 10), key: key.id },
      ...counts,
    });
    await kept.processes.insertOne({
      _id: 'a process',
      at,
      expires: expiresAt,
      pool: HOSTILE,
      startedAt: at,
      queue: { waiting: 1, oldestMs: 5, byAccount: { [fixture.accountId]: 1 } },
      workers: [{ address: HOSTILE, state: HOSTILE, capacity: 2, busy: 1 }],
    });
  });
  after(async () => {
    await browser.close();
    await fixture.stop();
  });

  /** Elements that only an injected text can have created. */
  const made = (page: Page) =>
    page.evaluate(
      `[...document.querySelectorAll('img[src="x"], [onerror], [onload], body script:not([src]), a[href^="javascript:" i], iframe[src^="javascript:" i]')].map(each => each.outerHTML)`,
    );

  // `true`: the screen must show the text, so that an empty screen does not pass.
  for (const [path, shows] of [
    ['/', true],
    ['/keys', true],
    ['/renders', true],
    [`/renders/${RENDER_ID}`, true],
    ['/usage', true],
    ['/team', true],
    ['/audit', true],
    ['/settings', false],
    ['/profile', true],
    ['/billing', false],
    ['/connect', false],
    ['/playground?url=javascript:alert(4)', false],
    ['/operator/accounts', true],
    ['/operator/accounts?account=OWN', true],
    ['/operator/people', true],
    ['/operator/live', true],
    ['/operator/audit', true],
    ['/operator/health', false],
  ] as const)
    it(`stay text on ${path}`, async () => {
      const { page, expectNoErrors } = await browser.open(
        owner,
        path.replace('OWN', fixture.accountId),
      );
      const dialogs: string[] = [];
      page.on('dialog', dialog => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (path === '/profile')
        await page.getByRole('button', { name: 'Disconnect <img src=x' }).waitFor();
      if (shows)
        await page
          .getByRole('main')
          .getByText('<img src=x onerror=alert(1)>')
          .filter({ visible: true })
          .first()
          .waitFor();
      await page.waitForLoadState('networkidle').catch(() => {});
      expect(await made(page)).to.deep.equal([]);
      expect(dialogs).to.deep.equal([]);
      expectNoErrors();
      await page.context().close();
    });
});
