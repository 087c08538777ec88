// Checks that the API in an image serves MCP clients. The packages of the OAuth server and the MCP
// server are loaded at the first call.
import { expect } from 'chai';
import { mcpClient } from '../support/console/mcp-fixture.ts';
import { authorizeApp, PUBLIC_URL } from '../support/console/oauth-flow.ts';
import { signedIn } from '../support/console/signed-in.ts';
import { httpCall } from '../support/http-call.ts';
import type { Installation } from '../support/installation.ts';
import { pdfText } from '../support/pdf.ts';

/** Discovers the OAuth server, authorizes a client, renders, and downloads the PDF of the link. */
export async function letsAppsRender(port: number, pressroom: Installation): Promise<void> {
  const { status, headers } = await httpCall(
    port,
    'POST',
    '/mcp',
    { 'content-type': 'application/json' },
    '{}',
  );
  expect(status).to.equal(401);
  const [, resource] = /resource_metadata="([^"]+)"/.exec(headers['www-authenticate']!)!;
  for (const path of [new URL(resource!).pathname, '/.well-known/oauth-authorization-server']) {
    const response = await httpCall(port, 'GET', path);
    expect(response.status, String(response.body)).to.equal(200);
    expect(String(response.body)).to.include(PUBLIC_URL);
  }
  const { _id: account } = (await pressroom.store.accounts.findOne({ name: pressroom.account }))!;
  const developer = await signedIn(pressroom.store, { account, role: 'developer' });
  const { access_token } = await authorizeApp({ api: { port: () => port } }, developer);
  const client = await mcpClient('present', `http://127.0.0.1:${port}`, access_token);
  try {
    const { isError, structuredContent } = await client.render({
      html: '<p>For an app</p>',
      metadata: { title: 'App' },
    });
    expect(isError ?? false).to.equal(false);
    const { body } = await httpCall(port, 'GET', new URL(structuredContent!.url).pathname);
    expect(await pdfText(body)).to.include('For an app');
  } finally {
    await client.close();
  }
}
