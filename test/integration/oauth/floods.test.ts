// @proves client-registration, client-metadata-documents
// Limits on documents and registrations of anonymous clients.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { browser, CALLBACK, redeem, registerClient } from '../../support/console/oauth-flow.ts';

describe('the OAuth server with many anonymous clients', () => {
  let fixture: ConsoleFixture;
  let fetched = 0;
  before(async () => {
    fixture = await consoleFixture({
      workers: 0,
      clientFetch: async () => {
        fetched += 1;
        throw new Error('no such document');
      },
    });
  });
  after(() => fixture.stop());

  it('fetches at most 120 documents for one address, at the token and the authorization endpoint', async () => {
    for (let n = 0; n < 125; n += 1)
      await redeem(
        fixture,
        { id: `https://app.example/${n}`, redirectUri: CALLBACK },
        'a code',
        'a'.repeat(43),
      );
    expect(fetched).to.equal(120);
    await browser(fixture).get(
      `/oauth/authorize?client_id=${encodeURIComponent('https://app.example/one-more')}`,
    );
    expect(fetched).to.equal(120);
  });

  it('bounds the total length of redirect URIs in a registration', async () => {
    const uriOf = (length: number) =>
      `https://app.example/${'x'.repeat(length - 'https://app.example/'.length)}`;
    const uris = [uriOf(999), uriOf(998), uriOf(997), uriOf(996)];
    expect(
      (await registerClient(fixture, { redirect_uris: [...uris, uriOf(20)] })).status,
    ).to.equal(400);
    expect((await registerClient(fixture, { redirect_uris: uris })).status).to.equal(201);
  });
});
