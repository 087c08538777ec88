// A person allows an app in a real browser: they sign in on the way, see who asks, and land at the app's own address.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { passwords } from '../../api/console/people/passwords.ts';
import { barriers, type ConsoleBrowser, consoleBrowser, picture, SIZES } from '../support/console-browser.ts';
import { type ConsoleRig, consoleRig } from '../support/console-rig.ts';
import { authorizePath, type Client, newClient, pkce, redeem } from '../support/oauth-walk.ts';

const PASSWORD = 'a password of the tests';

/** The public URL must be known before the installation listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise(resolve => server.close(resolve));
  return port;
}

describe('the consent in a browser', function () {
  this.timeout(120_000);
  let rig: ConsoleRig;
  let browser: ConsoleBrowser;
  /** The app, which listens on this computer. */
  let app: Server;
  let client: Client;
  const arrived: URL[] = [];
  before(async () => {
    app = createServer((request, response) => {
      if (request.url!.startsWith('/callback')) arrived.push(new URL(request.url!, client.redirectUri));
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>App</title><h1>Connected</h1>');
    });
    await new Promise<void>(resolve => app.listen(0, '127.0.0.1', resolve));
    const port = await freePort();
    const publicUrl = `http://localhost:${port}`;
    rig = await consoleRig({ workers: 0, env: { PRESSROOM_PORT: String(port), PRESSROOM_PUBLIC_URL: publicUrl } });
    browser = await consoleBrowser(rig);
    client = await newClient(rig, {
      client_name: 'Claude Code (pressroom)',
      redirect_uris: [`http://127.0.0.1:${(app.address() as AddressInfo).port}/callback`],
    });
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
    app?.closeAllConnections();
    await new Promise(resolve => app.close(resolve));
  });

  async function looks(page: Page, name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const)
      for (const size of ['desktop', 'phone'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(SIZES[size]);
        await picture(page, `${name}-${size}-${colorScheme}`);
        expect(await barriers(page), `${name}, ${size}, ${colorScheme}`).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(SIZES[size].width);
      }
  }

  it('leads from the app by the sign-in and the consent back to the app', async () => {
    const person = await rig.person({ role: 'developer' });
    const second = await rig.account2();
    const members = [{ user: person.id, role: 'owner' as const, since: new Date() }];
    await rig.store.console.teams.insertOne({ _id: second, members, invitations: [] });
    await rig.store.console.users.updateOne({ _id: person.id }, { $set: { password: await passwords.hash(PASSWORD) } });
    const { verifier, challenge } = pkce();
    const { page } = await browser.open(undefined, '/sign-in');
    await page.goto(browser.origin + authorizePath(client, challenge, { resource: `${browser.origin}/mcp` }));
    await page.getByLabel('Email').fill(person.email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Connect an app' }).waitFor();
    expect(await page.textContent('main'))
      .to.include('“Claude Code (pressroom)”')
      .and.include('on this computer');
    await looks(page, 'consent');
    await page.getByLabel('Account').selectOption(second);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'Connected' }).waitFor();
    const code = arrived.at(-1)!.searchParams.get('code')!;
    const answer = await redeem(rig, client, code, verifier, { resource: `${browser.origin}/mcp` });
    expect(answer.status, answer.body.toString()).to.equal(200);
    expect(await rig.store.console.oauthGrants.findOne({ user: person.id })).to.include({ account: second });
    // Nothing that would make the browser an app of its own stays in it.
    const names = (await page.context().cookies(browser.origin)).map(({ name }) => name);
    expect(names.filter(name => name.includes('oauth-session'))).to.deep.equal([]);
  });

  it('shows the longest names in the width of a phone', async () => {
    const person = await rig.person({ role: 'developer' });
    const long = await newClient(rig, {
      client_name: 'W'.repeat(200),
      redirect_uris: [`https://${'w'.repeat(60)}.${'w'.repeat(60)}.example/cb`],
    });
    const { page } = await browser.open(person, '/profile');
    await page.goto(browser.origin + authorizePath(long, pkce().challenge, { resource: `${browser.origin}/mcp` }));
    await page.getByRole('heading', { name: 'Connect an app' }).waitFor();
    await looks(page, 'consent-long');
  });
});
