// The effect of key changes on renders: in this API process, and in another one that has just
// accepted the key.
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { renderCall } from '../../support/http-call.ts';
import { type Installation, installation } from '../../support/installation.ts';

const HELLO = { html: '<h1>hello</h1>', sandbox: true };
type Created = { key: { id: string }; text: string };

describe('API keys in two API processes', () => {
  let fixture: ConsoleFixture;
  let other: Installation;
  let owner: TestUser;
  before(async () => {
    fixture = await consoleFixture();
    other = await installation({
      workers: 0,
      uri: fixture.uri,
      env: { PRESSROOM_WORKERS: fixture.worker.address },
    });
    owner = await fixture.createUser({ role: 'owner' });
  });
  after(async () => {
    await other?.stop();
    await fixture.stop();
  });

  const path = (rest = '') => `/accounts/${fixture.accountId}/keys${rest}`;
  const create = (body: object = {}) =>
    owner.good<Created>('POST', path(), { name: 'press', ...body });
  /** The statuses of a render in each process. */
  const render = (text: string) =>
    Promise.all(
      [fixture, other].map(async ({ api }) => (await renderCall(api.port(), text, HELLO)).status),
    );

  it('work immediately in both', async () => {
    expect(await render((await create()).text)).to.deep.equal([200, 200]);
  });

  it('are rejected by both on the next request once revoked', async () => {
    const { key, text } = await create();
    expect(await render(text)).to.deep.equal([200, 200]);
    await owner.good('DELETE', path(`/${key.id}`));
    expect(await render(text)).to.deep.equal([401, 401]);
  });

  it('let a running render finish while its key is revoked', async () => {
    const { key, text } = await create();
    const running = renderCall(fixture.api.port(), text, { ...HELLO, wait_delay: '1s' });
    await fixture.worker.until({ busy: 1 });
    await owner.good('DELETE', path(`/${key.id}`));
    expect((await running).status).to.equal(200);
  });

  it('work in both during the overlap of a rotation, and no longer', async () => {
    const former = await create();
    expect(await render(former.text)).to.deep.equal([200, 200]);
    const next = await owner.good<Created>('POST', path(`/${former.key.id}/rotate`), {
      overlap: 'hour',
    });
    expect(await render(former.text)).to.deep.equal([200, 200]);
    expect(await render(next.text)).to.deep.equal([200, 200]);
    // An hour later.
    await fixture.store.accounts.updateOne(
      { 'keys.id': former.key.id },
      { $set: { 'keys.$.expiresAt': new Date(Date.now() - 1) } },
    );
    expect(await render(former.text)).to.deep.equal([401, 401]);
    expect(await render(next.text)).to.deep.equal([200, 200]);
  });

  it('are rejected by both on the next request once rotated without an overlap', async () => {
    const former = await create();
    expect(await render(former.text)).to.deep.equal([200, 200]);
    const next = await owner.good<Created>('POST', path(`/${former.key.id}/rotate`), {
      overlap: 'none',
    });
    expect(await render(former.text)).to.deep.equal([401, 401]);
    expect(await render(next.text)).to.deep.equal([200, 200]);
  });

  it('are rejected from an address that is not allowed', async () => {
    expect(await render((await create({ allowedIps: ['192.0.2.0/24'] })).text)).to.deep.equal([
      401, 401,
    ]);
    expect(await render((await create({ allowedIps: ['127.0.0.0/8'] })).text)).to.deep.equal([
      200, 200,
    ]);
  });
});
