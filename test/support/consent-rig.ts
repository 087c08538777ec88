// An installation at an address that browsers reach, a browser, and an app on another site that opens the consent in a window of its own and waits for its end.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { passwords } from '../../api/console/people/passwords.ts';
import { type TestProvider, testProvider } from './company-provider.ts';
import { barriers, type ConsoleBrowser, consoleBrowser, picture, SIZES } from './console-browser.ts';
import { type ConsoleRig, consoleRig, type Person } from './console-rig.ts';
import { freePort } from './free-port.ts';
import { authorizePath, type Client, newClient, pkce } from './oauth-walk.ts';

export const PASSWORD = 'a password of the tests';

export interface ConsentRig {
  rig: ConsoleRig;
  browser: ConsoleBrowser;
  /** The company's sign-in, where there is one. */
  provider: TestProvider | undefined;
  /** What tokens are for. */
  resource: string;
  /** The app, registered by what it says of itself. */
  client(metadata?: Record<string, unknown>): Promise<Client>;
  /** Where the app sends people; `verifier` is what its code needs. */
  ask(client: Client): { url: string; verifier: string };
  /** Gives the person PASSWORD. */
  withPassword(person: Person): Promise<Person>;
  /** What came to the app's own address, in order. */
  arrived: URL[];
  /** Opens the app's site in the tab, which opens the consent in a window of its own. */
  popup(tab: Page, client: Client): Promise<Page>;
  /** What the app's site says in the tab: `waiting`, `lost` when its window seems closed, else what came back to it. */
  said(tab: Page): Promise<string>;
  stop(): Promise<void>;
}

/** Runs in the app's site. */
const WAITS = `
const say = text => { document.querySelector('output').textContent = text; };
document.querySelector('button').onclick = () => {
  const popup = open(document.querySelector('button').value, 'connect', 'width=500,height=700');
  say('waiting');
  const watch = setInterval(() => {
    if (!popup.closed) return;
    clearInterval(watch);
    if (document.querySelector('output').textContent === 'waiting') say('lost');
  }, 20);
  addEventListener('message', ({ data }) => say(data));
};`;
/** Runs where the answer arrives. */
const TELLS = `
const query = new URLSearchParams(location.search);
if (opener) {
  opener.postMessage(query.get('error') ?? 'connected', '*');
  if (query.has('state')) setTimeout(close, 100);
}`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

export async function consentRig({ company = false }: { company?: boolean } = {}): Promise<ConsentRig> {
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const resource = `${publicUrl}/mcp`;
  const arrived: URL[] = [];
  const site = createServer((request, response) => {
    const url = new URL(request.url!, `http://${request.headers.host}`);
    const back = url.pathname === '/callback';
    if (back) arrived.push(url);
    const page = back
      ? `<h1>Connected</h1><script>${TELLS}</script>`
      : `<h1>An app</h1><button value="${escaped(url.searchParams.get('ask') ?? '')}">Connect</button><output></output><script>${WAITS}</script>`;
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>App</title>${page}`);
  });
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
  const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const provider = company ? await testProvider({ callback: `${publicUrl}/app/sign-in/company/callback` }) : undefined;
  const rig = await consoleRig({
    workers: 0,
    env: {
      PRESSROOM_PORT: String(port),
      PRESSROOM_PUBLIC_URL: publicUrl,
      ...(provider && { ...provider.env, PRESSROOM_OIDC_NAME: 'Example account' }),
    },
  });
  // Without anybody there would be the setup first.
  await rig.person({ operator: true });
  const browser = await consoleBrowser(rig);

  function ask(client: Client) {
    const { verifier, challenge } = pkce();
    return { url: publicUrl + authorizePath(client, challenge, { resource }), verifier };
  }

  return {
    rig,
    browser,
    provider,
    resource,
    arrived,
    ask,
    withPassword: async person => {
      await rig.store.console.users.updateOne({ _id: person.id }, { $set: { password: await passwords.hash(PASSWORD) } });
      return person;
    },
    client: (metadata = {}) => newClient(rig, { redirect_uris: [`${siteUrl}/callback`], ...metadata }),
    popup: async (tab, client) => {
      await tab.goto(`${siteUrl}/?ask=${encodeURIComponent(ask(client).url)}`);
      const opened = tab.waitForEvent('popup');
      await tab.getByRole('button', { name: 'Connect' }).click();
      return opened;
    },
    said: async tab => (await tab.getByRole('status').textContent()) ?? '',
    stop: async () => {
      await browser.close();
      await rig.stop();
      await provider?.stop();
      site.closeAllConnections();
      await new Promise(resolve => site.close(resolve));
    },
  };
}

/** The page as it is, in light and dark, on a desktop and a phone: axe finds nothing and nothing sticks out; keeps a picture of each. */
export async function looks(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const size of ['desktop', 'phone'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(SIZES[size]);
      await picture(page, `${name}-${size}-${colorScheme}`);
      expect(await barriers(page), `${name}, ${size}, ${colorScheme}`).to.deep.equal([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(SIZES[size].width);
    }
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

export async function signIn(page: Page, { email }: Person): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await press(page, 'Sign in');
}

/** Waits for the page of consent. */
export const asked = (page: Page) => page.getByRole('heading', { name: 'Connect an app' }).waitFor();

/** What the page says. */
export const words = async (page: Page) => (await page.getByRole('main').textContent())!.replace(/\s+/g, ' ');
