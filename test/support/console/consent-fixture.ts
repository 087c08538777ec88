// An installation at its public URL, a browser, and an app on another site that opens the consent
// page in a popup and waits for the result.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { type PublicUrlFixture, publicUrlFixture } from '../public-url-fixture.ts';
import { authorizePath, type Client, newClient, pkce } from './oauth-flow.ts';

export interface ConsentFixture extends PublicUrlFixture {
  /** The resource (audience) of the tokens. */
  resource: string;
  /** Registers the app with this metadata. */
  client(metadata?: Record<string, unknown>): Promise<Client>;
  /** The authorization URL of the app, and the PKCE verifier of the code. */
  ask(client: Client): { url: string; verifier: string };
  /** The requests to the callback of the app, in order. */
  arrived: URL[];
  /** Opens the site of the app in the tab and the consent page in a popup. */
  popup(tab: Page, client: Client): Promise<Page>;
  /** The status on the site: `waiting`, `lost` when the popup was closed, or the result. */
  appStatus(tab: Page): Promise<string>;
}

/** The script of the site. */
const OPENER_SCRIPT = `
const show = text => { document.querySelector('output').textContent = text; };
document.querySelector('button').onclick = () => {
  const popup = open(document.querySelector('button').value, 'connect', 'width=500,height=700');
  show('waiting');
  const watch = setInterval(() => {
    if (!popup.closed) return;
    clearInterval(watch);
    if (document.querySelector('output').textContent === 'waiting') show('lost');
  }, 20);
  addEventListener('message', ({ data }) => show(data));
};`;
/** The script of the callback page. */
const CALLBACK_SCRIPT = `
const query = new URLSearchParams(location.search);
if (opener) {
  opener.postMessage(query.get('error') ?? 'connected', '*');
  if (query.has('state')) setTimeout(close, 100);
}`;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

export async function consentFixture(
  options?: Parameters<typeof publicUrlFixture>[0],
): Promise<ConsentFixture> {
  const addressed = await publicUrlFixture(options);
  const { fixture, publicUrl } = addressed;
  const resource = `${publicUrl}/mcp`;
  const arrived: URL[] = [];
  const site = createServer((request, response) => {
    const url = new URL(request.url!, `http://${request.headers.host}`);
    const back = url.pathname === '/callback';
    if (back) arrived.push(url);
    const page = back
      ? `<h1>Connected</h1><script>${CALLBACK_SCRIPT}</script>`
      : `<h1>An app</h1><button value="${escaped(url.searchParams.get('ask') ?? '')}">Connect</button><output></output><script>${OPENER_SCRIPT}</script>`;
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>App</title>${page}`);
  });
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
  const siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

  function ask(client: Client) {
    const { verifier, challenge } = pkce();
    return { url: publicUrl + authorizePath(client, challenge, { resource }), verifier };
  }

  return {
    ...addressed,
    resource,
    arrived,
    ask,
    client: (metadata = {}) =>
      newClient(fixture, { redirect_uris: [`${siteUrl}/callback`], ...metadata }),
    popup: async (tab, client) => {
      await tab.goto(`${siteUrl}/?ask=${encodeURIComponent(ask(client).url)}`);
      const opened = tab.waitForEvent('popup');
      await tab.getByRole('button', { name: 'Connect' }).click();
      return opened;
    },
    appStatus: async tab => (await tab.getByRole('status').textContent()) ?? '',
    stop: async () => {
      await addressed.stop();
      site.closeAllConnections();
      await new Promise(resolve => site.close(resolve));
    },
  };
}
