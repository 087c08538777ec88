// @proves connected-apps
// Connected apps on the profile screen, and the MCP setup on the Connect screen.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type ConsoleBrowser, consoleBrowser } from '../support/console/console-browser.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../support/console/console-fixture.ts';
import { earlierMessage, mcpCall } from '../support/console/mcp-call.ts';
import { authorizeApp, newClient } from '../support/console/oauth-flow.ts';

const HOSTILE = '<img src=x onerror=alert(1)><script>alert(2)</script>';

describe('connected apps', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  let browser: ConsoleBrowser;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    browser = await consoleBrowser(fixture);
  });
  after(async () => {
    await browser?.close();
    await fixture?.stop();
  });
  beforeEach(async () => {
    person = await fixture.createUser({ role: 'owner' });
  });

  const row = (page: Page, text: string) =>
    page.getByRole('table', { name: 'Connected apps' }).getByRole('row').filter({ hasText: text });
  const nothing = (page: Page) => page.getByText('No connected apps').waitFor();
  const connect = async (metadata: Record<string, unknown>) =>
    authorizeApp(fixture, person, { client: await newClient(fixture, metadata) });

  const statusOf = async (token: string) =>
    (await mcpCall(fixture, token, earlierMessage('tools/list'))).status;

  it('lists each app with its name, origin, account and last use', async () => {
    const { access_token } = await connect({ client_name: 'Claude Code (pressroom)' });
    await connect({ client_name: undefined, redirect_uris: ['https://chat.example/callback'] });
    await connect({
      client_name: 'Cursor',
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
    });
    const { page, expectNoErrors } = await browser.open(person, '/profile');
    await row(page, 'Claude Code (pressroom)')
      .filter({ hasText: 'Local app (127.0.0.1:33418)' })
      .waitFor();
    await row(page, 'Unnamed app').filter({ hasText: 'chat.example' }).waitFor();
    await row(page, 'Cursor').filter({ hasText: 'App for cursor: links' }).waitFor();
    await row(page, 'Claude Code')
      .filter({ hasText: fixture.account })
      .filter({ hasText: 'Never' })
      .waitFor();
    expect(await statusOf(access_token)).to.equal(200);
    await page.reload();
    await row(page, 'Claude Code').filter({ hasText: fixture.account }).waitFor();
    expect(await row(page, 'Claude Code').filter({ hasText: 'Never' }).count()).to.equal(0);
    expectNoErrors();
    await page.context().close();
  });

  it('disconnects one app after confirmation and rejects its next call', async () => {
    const { access_token: gone } = await connect({ client_name: 'The One' });
    const { access_token: kept } = await connect({ client_name: 'The Other' });
    const { page, expectNoErrors } = await browser.open(person, '/profile');
    const disconnect = page.getByRole('button', { name: 'Disconnect The One' });
    await disconnect.click();
    const dialog = page.getByRole('dialog', { name: 'Disconnect this app?' });
    await dialog.getByText('The One will lose access immediately').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await statusOf(gone)).to.equal(200);

    await disconnect.click();
    await dialog.getByRole('button', { name: 'Disconnect app' }).click();
    await row(page, 'The One').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Notices' }).getByText('App disconnected.').waitFor();
    expect(await statusOf(gone)).to.equal(401);
    expect(await statusOf(kept)).to.equal(200);
    await row(page, 'The Other').waitFor();

    await page.goto(`${browser.origin}/app/audit`);
    const audit = page.getByRole('table', { name: 'Audit log' });
    await audit.getByRole('row', { name: /^Connected the app The One/ }).waitFor();
    await audit.getByRole('row', { name: /^Disconnected the app The One/ }).waitFor();
    expectNoErrors();
    await page.context().close();
  });

  it('shows an error in the dialog if disconnecting fails', async () => {
    await connect({ client_name: 'Gone Already' });
    const { page, expectNoErrors } = await browser.open(person, '/profile');
    await page.getByRole('button', { name: 'Disconnect Gone Already' }).click();
    await fixture.store.console.oauthGrants.deleteMany({ user: person.id });
    await page.getByRole('button', { name: 'Disconnect app' }).click();
    await page.getByRole('dialog').getByText('App not found.').waitFor();
    expectNoErrors(/404 \(Not Found\)/);
    await page.context().close();
  });

  it('links to the Connect screen while no app is connected', async () => {
    const { page, expectNoErrors } = await browser.open(person, '/profile');
    await nothing(page);
    await page.getByRole('main').getByRole('link', { name: 'Connect', exact: true }).click();
    await page.getByRole('heading', { name: 'AI assistants and editors' }).waitFor();
    expectNoErrors();
    await page.context().close();
  });

  it('does not link to the Connect screen without an account', async () => {
    const { page } = await browser.open(await fixture.createUser({ operator: true }), '/profile');
    await nothing(page);
    expect(
      await page.getByRole('main').getByRole('link', { name: 'Connect', exact: true }).count(),
    ).to.equal(0);
    await page.context().close();
  });

  it('lets a viewer disconnect an app that was connected under another role', async () => {
    await connect({ client_name: 'From Before' });
    await fixture.store.console.teams.updateOne(
      { 'members.user': person.id },
      { $set: { 'members.$.role': 'viewer' } },
    );
    const { page } = await browser.open(person, '/profile');
    await page.getByRole('button', { name: 'Disconnect From Before' }).click();
    await page.getByRole('button', { name: 'Disconnect app' }).click();
    await nothing(page);
    await page.context().close();
  });

  it('is accessible without apps, with long and hostile names, and in the dialog', async () => {
    await browser.looks(person, '/profile', 'apps-none', nothing);
    await connect({
      client_name: 'W'.repeat(100),
      redirect_uris: [`https://${'w'.repeat(60)}.${'w'.repeat(60)}.example/cb`],
    });
    await connect({ client_name: HOSTILE });
    const shown = (page: Page) => row(page, HOSTILE).waitFor();
    await browser.looks(person, '/profile', 'apps', shown);
    await browser.looks(person, '/profile', 'apps-question', async page => {
      await shown(page);
      await page.getByRole('button', { name: `Disconnect ${HOSTILE}` }).click();
      await page.getByRole('dialog').getByText(`${HOSTILE} will lose access`).waitFor();
      expect(await page.locator('img[src="x"]').count()).to.equal(0);
    });
  });

  it('is hidden while MCP is turned off', async () => {
    const without = await consoleFixture({
      workers: 0,
      uri: fixture.uri,
      env: { PRESSROOM_MCP: 'off' },
    });
    const other = await consoleBrowser(without);
    try {
      const { page } = await other.open(person, '/profile');
      await page.getByRole('heading', { name: 'Sessions' }).waitFor();
      expect(await page.getByRole('heading', { name: 'Connected apps' }).count()).to.equal(0);
      await page.goto(`${other.origin}/app/connect`);
      await page.getByRole('heading', { name: 'First request' }).waitFor();
      expect(
        await page.getByRole('heading', { name: 'AI assistants and editors' }).count(),
      ).to.equal(0);
    } finally {
      await other.close();
      await without.stop();
    }
  });

  describe('MCP setup', () => {
    const panel = (page: Page) => page.getByRole('region', { name: 'AI assistants and editors' });
    const url = 'http://localhost:8080/mcp';

    it('shows a command and install links', async () => {
      const { page, expectNoErrors } = await browser.open(person, '/connect');
      await panel(page)
        .getByText(`claude mcp add --transport http --scope user pressroom ${url}`)
        .waitFor();
      const linkOf = async (name: string) =>
        (await panel(page).getByRole('link', { name }).getAttribute('href'))!;
      const code = await linkOf('Add to VS Code');
      expect(code).to.match(/^vscode:mcp\/install\?/);
      expect(JSON.parse(decodeURIComponent(code.split('?')[1]!))).to.deep.equal({
        name: 'pressroom',
        type: 'http',
        url,
      });
      const cursor = new URL(await linkOf('Add to Cursor'));
      expect(cursor.href).to.match(
        /^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=pressroom&config=/,
      );
      expect(JSON.parse(atob(cursor.searchParams.get('config')!))).to.deep.equal({ url });
      await panel(page).getByText('this URL is not public').waitFor();
      expectNoErrors();
      await page.context().close();
    });

    it('explains to a viewer that the role cannot render', async () => {
      const viewer = await fixture.createUser({ role: 'viewer' });
      await browser.looks(viewer, '/connect', 'connect-viewer', page =>
        panel(page).getByText('Your role cannot render').waitFor(),
      );
    });
  });
});
