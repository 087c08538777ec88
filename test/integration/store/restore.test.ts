// The restore that docs/operations.md describes: the database in another MongoDB, the secrets back.
// Copies what mongodump and mongorestore copy, since no package registry has these programs.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type CollectionInfo, type Document, MongoClient } from 'mongodb';
import { Secret, TOTP } from 'otpauth';
import { createUsers } from '../../../api/console/users/users.ts';
import type { ManagedMongod } from '../../../standalone/mongod.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  type AuthorizedApp,
  accessOf,
  authorizeApp,
  refresh,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { cookieClient, SESSION } from '../../support/cookie-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, httpCall, renderCall } from '../../support/http-call.ts';
import { html } from '../../support/installation.ts';
import { freshMongod } from '../../support/servers/mongod.ts';

interface Dump {
  collections: { info: CollectionInfo; indexes: Document[]; documents: Document[] }[];
}

/** Without conversions, so that every BSON type comes back as it was. */
const RAW = { promoteValues: false, promoteLongs: false, promoteBuffers: false } as const;

async function dump(uri: string): Promise<Dump> {
  const client = await MongoClient.connect(uri, RAW);
  try {
    const db = client.db();
    const infos = (await db.listCollections().toArray()) as CollectionInfo[];
    const collections = infos.map(async info => ({
      info,
      indexes: (await db.collection(info.name).indexes()) as Document[],
      documents: await db.collection(info.name).find().toArray(),
    }));
    return { collections: await Promise.all(collections) };
  } finally {
    await client.close();
  }
}

async function restore({ collections }: Dump, uri: string): Promise<void> {
  const client = await MongoClient.connect(uri, RAW);
  try {
    for (const { info, indexes, documents } of collections) {
      const collection = await client.db().createCollection(info.name, info.options);
      if (documents.length > 0) await collection.insertMany(documents);
      for (const { key, v: _, ...options } of indexes)
        if (options['name'] !== '_id_') await collection.createIndex(key, options);
    }
  } finally {
    await client.close();
  }
}

const PASSWORD = 'correct horse battery';
const appCode = (secret: string, steps = 0) =>
  TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: Date.now() + steps * 30_000 });

describe('a restored database', () => {
  let source: ConsoleFixture;
  let owner: TestUser;
  let app: AuthorizedApp;
  /** Signs in with an authenticator app. */
  let careful: { email: string; secret: string; recoveryCodes: string[] };
  let known: Awaited<ReturnType<typeof records>>;
  let saved: Dump;
  let target: ManagedMongod;
  let restored: ConsoleFixture | undefined;

  const usageOf = async ({ api }: ConsoleFixture) =>
    JSON.parse(
      String(
        (await httpCall(api.port(), 'GET', '/v1/usage', { authorization: `Bearer ${source.key}` }))
          .body,
      ),
    ) as unknown;
  const renderAt = (to: ConsoleFixture): Promise<Answer> =>
    renderCall(to.api.port(), source.key, { html: html('restored') });

  async function withAuthenticatorApp() {
    const email = `${randomUUID()}@example.com`;
    await createUsers(source.store).create({ email, name: 'Ada', password: PASSWORD });
    const who = cookieClient(source.api.port());
    await who.post('/app/sign-in', { email, password: PASSWORD });
    const call = async (path: string, body: object) =>
      JSON.parse((await who.api('POST', path, body)).body.toString());
    const { secret } = await call('/me/two-factor', { password: PASSWORD });
    const { recoveryCodes } = await call('/me/two-factor/confirm', { code: appCode(secret) });
    return { email, secret, recoveryCodes };
  }
  /** The session cookie after both steps of a sign-in; undefined when the code is refused. */
  async function signIn(to: ConsoleFixture, code: string): Promise<string | undefined> {
    const who = cookieClient(to.api.port());
    await who.post('/app/sign-in', { email: careful.email, password: PASSWORD });
    await who.post('/app/sign-in/code', { code });
    return who.cookies.get(SESSION);
  }
  const records = async (of: ConsoleFixture) => ({
    usage: await usageOf(of),
    renders: await of.store.console.renders.find().sort({ _id: 1 }).toArray(),
    audit: await of.store.console.audit.find().sort({ _id: 1 }).toArray(),
    indexes: (await dump(of.uri)).collections
      .map(({ info, indexes }) => ({ name: info.name, indexes }))
      .sort((a, b) => a.name.localeCompare(b.name, 'en')),
  });

  /** Starts Pressroom on a new copy of the saved database. */
  async function startWith(env: Record<string, string> = {}): Promise<ConsoleFixture> {
    const uri = target.uriFor(`restored_${randomUUID().slice(0, 8)}`);
    await restore(saved, uri);
    restored = await consoleFixture({ uri, env });
    return restored;
  }

  before(async () => {
    source = await consoleFixture();
    owner = await source.createUser({ role: 'owner' });
    for (const _ of [1, 2, 3]) expect((await renderAt(source)).status).to.equal(200);
    app = await authorizeApp(source, owner);
    careful = await withAuthenticatorApp();
    // The render log is written in batches.
    await eventually(async () =>
      expect(await source.store.console.renders.countDocuments()).to.equal(3),
    );
    known = await records(source);
    saved = await dump(source.uri);
    target = await freshMongod();
  });
  afterEach(async () => {
    await restored?.stop();
    restored = undefined;
  });
  after(async () => {
    await source?.stop();
    await target?.stop();
  });

  it('has the keys, the usage, the sessions and the connected apps, with the same secrets', async () => {
    const on = await startWith();
    expect(await records(on)).to.deep.equal(known);
    const { status, headers } = await renderAt(on);
    expect([status, headers['x-usage-count']]).to.deep.equal([200, '4']);
    const { cookie } = owner;
    expect((await httpCall(on.api.port(), 'GET', '/console/v1/me', { cookie })).status).to.equal(
      200,
    );
    expect(await signIn(on, appCode(careful.secret, 1))).to.be.a('string');
    expect(await accessOf(on, app.access_token)).to.have.property('account', source.accountId);
    const next = tokensOf(await refresh(on, app.client, app.refresh_token));
    expect(await accessOf(on, next.access_token)).to.have.property('account', source.accountId);
  });

  it('accepts no API key with another pepper', async () => {
    const { status } = await renderAt(
      await startWith({ PRESSROOM_PEPPER: 'another pepper of the tests' }),
    );
    expect(status).to.equal(401);
  });

  it('loses authenticator apps and connected apps with another dashboard secret', async () => {
    const on = await startWith({ PRESSROOM_SECRET: 'another secret of the tests, long enough' });
    expect((await renderAt(on)).status).to.equal(200);
    expect(await signIn(on, appCode(careful.secret, 1))).to.equal(undefined);
    expect(await signIn(on, careful.recoveryCodes[0]!)).to.be.a('string');
    expect(await accessOf(on, app.access_token)).to.equal(undefined);
    expect((await refresh(on, app.client, app.refresh_token)).status).to.equal(401);
  });
});
