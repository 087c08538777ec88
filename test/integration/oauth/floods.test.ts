// @proves client-registration, client-metadata-documents
// Strangers who make the OAuth server ask other sites or keep what they say: whichever way they
// take, they get so far.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { browser, CALLBACK, redeem, registerClient } from '../../support/console/oauth-flow.ts';

describe('an OAuth server that strangers keep busy', () => {
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

  it('asks for 120 documents, whether tokens or a consent are wanted', async () => {
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

  it('keeps no more of an app that registers than apps need', async () => {
    const of = (length: number) =>
      `https://app.example/${'x'.repeat(length - 'https://app.example/'.length)}`;
    const uris = [of(999), of(998), of(997), of(996)];
    expect((await registerClient(fixture, { redirect_uris: [...uris, of(20)] })).status).to.equal(
      400,
    );
    expect((await registerClient(fixture, { redirect_uris: uris })).status).to.equal(201);
  });
});
