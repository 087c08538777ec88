// @proves cross-site-requests

import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { nameOf, SAMPLES } from '../../support/console/console-rows.ts';
import { changesNothing, type PreparedCall, preparedCall } from '../../support/prepared-call.ts';

const CHANGING = Object.keys(SAMPLES).filter(name => !name.startsWith('GET'));
// The OpenAPI document is public and the same for everyone: client generators fetch it.
const READING = Object.keys(SAMPLES).filter(
  name => name.startsWith('GET') && name !== 'GET /openapi.json',
);
const WITH_BODY = Object.entries(SAMPLES).flatMap(([name, { body }]) => (body ? [name] : []));

describe('a cross-site request', function () {
  this.timeout(120_000);
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  after(() => fixture.stop());

  const prepared = (name: string) => preparedCall(fixture, name);
  const unchanged = (call: PreparedCall, act: () => Promise<void>) =>
    changesNothing(fixture, call, act);

  const SITES: [string, Record<string, string>][] = [
    ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
    ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }],
    ['a word of tomorrow in Sec-Fetch-Site', { 'sec-fetch-site': 'near-site' }],
    [
      'cross-site with an Origin that is ours',
      { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8080' },
    ],
    ['a foreign Origin', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    [
      'an Origin that begins as ours',
      { 'sec-fetch-site': '', origin: 'http://localhost:8080.evil.example' },
    ],
    ['our host by another scheme', { 'sec-fetch-site': '', origin: 'https://localhost:8080' }],
    [
      'an Origin that is the Host, but not our address',
      { 'sec-fetch-site': '', origin: 'http://evil.example', host: 'evil.example' },
    ],
    ['the Origin null', { 'sec-fetch-site': '', origin: 'null' }],
  ];

  for (const name of CHANGING)
    it(`is rejected: ${name}`, async () => {
      const call = await prepared(name);
      await unchanged(call, async () => {
        for (const [what, headers] of SITES) {
          const answer = await call.caller.call(call.method, call.path, call.body, headers);
          expect(answer.status, what).to.equal(403);
          expect(answer.error().code, what).to.equal('forbidden');
        }
      });
    });

  it('is rejected for GET, too', async () => {
    for (const name of READING) {
      const call = await prepared(name);
      for (const site of ['cross-site', 'same-site'])
        expect(
          (await call.caller.call('GET', call.path, undefined, { 'sec-fetch-site': site })).status,
          name,
        ).to.equal(403);
    }
  });

  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ])
    it(`is rejected as ${type}, which a form can send`, async () => {
      for (const name of WITH_BODY) {
        const call = await prepared(name);
        await unchanged(call, async () => {
          const answer = await call.caller.call(call.method, call.path, call.body, {
            'content-type': type,
          });
          expect([answer.status, answer.error().code], name).to.deep.equal([
            400,
            'validation_error',
          ]);
        });
      }
    });

  it('gets no CORS headers', async () => {
    const { caller, path } = await prepared('GET /me');
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'PATCH' };
    for (const method of ['OPTIONS', 'GET']) {
      const answer = await caller.call(method, path, undefined, headers);
      expect(
        Object.keys(answer.headers).filter(header => header.startsWith('access-control')),
      ).to.deep.equal([]);
    }
  });

  it('differs from requests of API clients and of our page in an old browser', async () => {
    for (const headers of [
      { 'sec-fetch-site': '' },
      { 'sec-fetch-site': '', origin: 'http://localhost:8080' },
    ]) {
      const { caller, path, body } = await prepared('PATCH /accounts/:account');
      expect((await caller.call('PATCH', path, body, headers)).status).to.equal(204);
    }
  });

  it('is tested for every row that changes something', () => {
    const changing = fixture.api.consoleRows.filter(({ method }) => method !== 'get');
    expect(changing.map(nameOf).sort()).to.deep.equal([...CHANGING].sort());
  });
});
