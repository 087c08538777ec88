// @proves GET /files/…, gone
// Download links: response headers, expiry, and bounds of memory and storage.
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { type NewPdf, PdfStore } from '../../../api/console/downloads/pdf-store.ts';
import { pdfFilename } from '../../../api/pdf/filename.ts';
import { CHUNK_BYTES } from '../../../api/store/stored-chunks.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  type McpClient,
  mcpClient,
  mcpClients,
  type ToolAnswer,
  textOf,
} from '../../support/console/mcp-fixture.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';
import { heldBytes } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';
import { moreProcesses } from '../../support/more-processes.ts';

const HELLO = { html: '<h1>Hello, world</h1>', filename: 'Größe "5-6"' };
const never = new AbortController().signal;
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

describe('a download link', () => {
  let fixture: ConsoleFixture;
  let developer: TestUser;
  let token: string;
  let client: McpClient;
  before(async () => {
    fixture = await consoleFixture({ env: { PRESSROOM_MCP_LINK_BYTES: '1MiB' } });
    developer = await fixture.createUser({ role: 'developer' });
    token = (await authorizeApp(fixture, developer)).access_token;
    client = await mcpClient('present', fixture.url, token);
  });
  after(async () => {
    await client?.close();
    await fixture.stop();
  });

  const connect = mcpClients();
  const another = moreProcesses();
  const pathOf = (answer: ToolAnswer) => new URL(answer.structuredContent!.url).pathname;
  const newPdf = (pdf: Buffer, account = fixture.accountId): NewPdf => ({
    renderId: crypto.randomUUID(),
    account,
    user: developer.id,
    filename: 'a.pdf',
    pages: 1,
    pdf,
  });
  const pdfStore = () => new PdfStore(fixture.store, { ttlMs: 60_000, accountMaxBytes: 2 ** 20 });

  it('serves an attachment that browsers neither open nor cache', async () => {
    const path = pathOf(await client.render(HELLO));
    const { headers, body } = await fixture.call('GET', path);
    expect(headers).to.include({
      'content-type': 'application/pdf',
      'content-disposition': `attachment; filename="Gro_e -5-6.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20-5-6.pdf`,
      'content-length': String(body.length),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'referrer-policy': 'no-referrer',
    });
    const head = await fixture.call('HEAD', path);
    expect([head.status, head.headers['content-length'], head.body.length]).to.deep.equal([
      200,
      String(body.length),
      0,
    ]);
  });

  it('responds 410 after its expiry and 404 to an unknown link', async () => {
    const answer = await client.render(HELLO);
    const { render_id } = answer.structuredContent!;
    await fixture.store.console.storedPdfs.updateOne(
      { _id: render_id },
      { $set: { 'metadata.expiresAt': new Date() } },
    );
    const expired = await fixture.call('GET', pathOf(answer));
    expect([expired.status, expired.error().code]).to.deep.equal([410, 'gone']);
    expect(expired.error().message).to.include('has expired');
    expect(
      String(await client.read(`render://${render_id}`).catch((error: Error) => error)),
    ).to.include('has expired');
    for (const path of [`/files/${'a'.repeat(43)}`, '/files/x', `${pathOf(answer)}x`]) {
      const unknown = await fixture.call('GET', path);
      expect([unknown.status, unknown.error().code]).to.deep.equal([404, 'not_found']);
    }
  });

  it('shows errors as a page in a browser and as JSON elsewhere', async () => {
    const answer = await client.render({ ...HELLO, sandbox: true });
    const where = { _id: answer.structuredContent!.render_id };
    await fixture.store.console.storedPdfs.updateOne(where, {
      $set: { 'metadata.expiresAt': new Date() },
    });
    for (const [path, status, code, title] of [
      [pathOf(answer), 410, 'gone', 'Link expired'],
      [`/files/${'b'.repeat(43)}`, 404, 'not_found', 'PDF not found'],
    ] as const) {
      const page = await fixture.call('GET', path, { accept: BROWSER });
      expect([page.status, page.headers['content-type']]).to.deep.equal([
        status,
        'text/html; charset=utf-8',
      ]);
      expect(page.headers).to.include({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      expect(page.headers['content-security-policy']).to.include("default-src 'none'");
      expect(page.body.toString()).to.include(`<h1>${title}</h1>`).and.not.include(path);
      for (const accept of [
        '*/*',
        'application/json',
        'application/pdf',
        'image/avif,image/*;q=0.8',
      ]) {
        const json = await fixture.call('GET', path, { accept });
        expect([json.status, json.error().code]).to.deep.equal([status, code]);
      }
    }
    expect((await fixture.call('HEAD', pathOf(answer), { accept: BROWSER })).status).to.equal(410);
  });

  it('works again after requests by link previews', async () => {
    const path = pathOf(await client.render({ ...HELLO, sandbox: true }));
    const preview = { 'user-agent': 'Slackbot-LinkExpanding 1.0', accept: '*/*' };
    const responses = [
      await fixture.call('HEAD', path, preview),
      await fixture.call('GET', path, { ...preview, range: 'bytes=0-9' }),
      await fixture.call('GET', path, { accept: BROWSER }),
    ];
    expect(responses.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    const [head, whole, last] = responses.map(({ headers }) => headers);
    expect(head).to.include({ 'accept-ranges': 'none', 'x-robots-tag': 'noindex' });
    for (const each of [whole, last])
      expect(each!['content-length']).to.equal(head!['content-length']);
  });

  it('has a safe file name for every name', async () => {
    const names = [
      ['../../etc/passwd', `attachment; filename="etc-passwd.pdf"`],
      ['a"; filename="evil.exe', `attachment; filename="a- filename-evil.exe.pdf"`],
      ['invoice\u202efdp.exe', `attachment; filename="invoice-fdp.exe.pdf"`],
      [
        '請求書',
        `attachment; filename="___.pdf"; filename*=UTF-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf`,
      ],
      ['', `attachment; filename="render.pdf"`],
    ];
    const shown = [];
    for (const [title] of names) {
      const filename = pdfFilename(title);
      const { token: secret } = await pdfStore().save(
        { ...newPdf(Buffer.from('%PDF-'), await fixture.account2()), filename },
        never,
      );
      shown.push([
        title,
        (await fixture.call('HEAD', `/files/${secret}`)).headers['content-disposition'],
      ]);
    }
    expect(shown).to.deep.equal(names);
  });

  it('works until its expiry, even when the app, the user or the account is disabled', async () => {
    const leaving = await fixture.createUser({ role: 'developer' });
    const { access_token, client: app } = await authorizeApp(fixture, leaving);
    const theirs = await connect('present', fixture.url, access_token);
    const answer = await theirs.render({ ...HELLO, sandbox: true });
    const [grant] = await fixture.store.console.oauthGrants.find({ clientId: app.id }).toArray();
    expect((await leaving.call('DELETE', `/me/apps/${grant!._id}`)).status).to.equal(204);
    await fixture.store.console.users.updateOne({ _id: leaving.id }, { $set: { disabled: true } });
    await fixture.accounts.setAccountById(fixture.accountId, { state: 'paused' });
    const { status } = await fixture.call('GET', pathOf(answer));
    await fixture.accounts.setAccountById(fixture.accountId, { state: 'active' });
    const unreadable = await theirs
      .read(`render://${answer.structuredContent!.render_id}`)
      .catch((error: Error) => error);
    expect(status).to.equal(200);
    expect(unreadable).to.be.instanceOf(Error);
  });

  it('is not stored in the database', async () => {
    const path = pathOf(await client.render(HELLO));
    const secret = path.slice('/files/'.length);
    const files = await fixture.store.console.storedPdfs.find().toArray();
    expect(files.length).to.be.at.least(1);
    expect(JSON.stringify(files)).to.not.include(secret);
  });

  it('works on every API process, like the resource', async () => {
    const replica = await another(fixture);
    const there = await connect('present', replica.url, token);
    const answer = await client.render(HELLO);
    const [here, elsewhere] = await Promise.all(
      [fixture, replica].map(each => each.call('GET', pathOf(answer))),
    );
    const read = await there.read(`render://${answer.structuredContent!.render_id}`);
    expect(elsewhere!.status).to.equal(200);
    expect(elsewhere!.body.equals(here!.body)).to.equal(true);
    expect(Buffer.from(read, 'base64').equals(here!.body)).to.equal(true);
  });

  it('serves a PDF of many chunks unchanged', async () => {
    const pdf = Buffer.alloc(20 * CHUNK_BYTES + 17, 'Pressroom');
    const { token: secret } = await pdfStore().save(newPdf(pdf, await fixture.account2()), never);
    const { status, body } = await fixture.call('GET', `/files/${secret}`);
    expect(status).to.equal(200);
    expect(body.equals(pdf)).to.equal(true);
  });

  it('closes the connection when a chunk is missing', async () => {
    const given = newPdf(Buffer.alloc(3 * CHUNK_BYTES), await fixture.account2());
    const { token: secret } = await pdfStore().save(given, never);
    await fixture.store.console.storedPdfChunks.deleteOne({ files_id: given.renderId, n: 2 });
    const answer = await fixture.call('GET', `/files/${secret}`).catch((error: Error) => error);
    expect(answer).to.be.instanceOf(Error);
  });

  it('leaves nothing in the database when the client disconnects while the PDF is written', async () => {
    const given = newPdf(Buffer.alloc(40 * CHUNK_BYTES), await fixture.account2());
    const leaving = new AbortController();
    const saving = pdfStore().save(given, leaving.signal);
    leaving.abort(new Error('disconnected'));
    expect(await saving.catch((error: Error) => error.message)).to.equal('disconnected');
    expect(
      await fixture.store.console.storedPdfChunks.countDocuments({ files_id: given.renderId }),
    ).to.equal(0);
    expect(await fixture.store.console.storedPdfs.countDocuments({ _id: given.renderId })).to.equal(
      0,
    );
  });

  it('holds two chunks of memory, however slowly it is read', async () => {
    const small = await another(fixture, { env: { PRESSROOM_BYTES_IN_FLIGHT: '8MiB' } });
    const { token: secret } = await pdfStore().save(
      newPdf(Buffer.alloc(40 * 2 ** 20), await fixture.account2()),
      never,
    );
    const slow = get(`${small.url}/files/${secret}`, { agent: false });
    const [reading] = (await once(slow, 'response')) as [IncomingMessage];
    expect(await heldBytes(small)).to.equal(2 * CHUNK_BYTES);
    const second = await small.call('GET', `/files/${secret}`);
    expect([second.status, second.error().code, second.headers['retry-after']]).to.deep.equal([
      503,
      'unavailable',
      '2',
    ]);
    reading.destroy();
    await eventually(async () => expect(await heldBytes(small)).to.equal(0));
    expect((await small.call('GET', `/files/${secret}`)).body.length).to.equal(40 * 2 ** 20);
  });

  it('leaves memory for other accounts when slow clients use the share of one', async () => {
    const small = await another(fixture, { env: { PRESSROOM_BYTES_IN_FLIGHT: '32MiB' } });
    const [one, other] = await Promise.all([fixture.account2(), fixture.account2()]);
    const { token: read } = await pdfStore().save(newPdf(Buffer.alloc(40 * 2 ** 20), one), never);
    const { token } = await pdfStore().save(newPdf(Buffer.alloc(40), other), never);
    const readers: IncomingMessage[] = [];
    for (let n = 0; n < 2; n += 1) {
      const slow = get(`${small.url}/files/${read}`, { agent: false });
      readers.push((await once(slow, 'response'))[0] as IncomingMessage);
    }
    expect((await small.call('GET', `/files/${read}`)).status).to.equal(503);
    expect((await small.call('GET', `/files/${token}`)).status).to.equal(200);
    for (const reader of readers) reader.destroy();
    await eventually(async () =>
      expect((await small.call('GET', `/files/${read}`)).status).to.equal(200),
    );
  });

  it('is deleted by TTL indexes together with its chunks', async () => {
    const { storedPdfs, storedPdfChunks } = fixture.store.console;
    const ttlIndexes = await Promise.all(
      [storedPdfs, storedPdfChunks].map(async each =>
        (await each.indexes()).filter(index => index.expireAfterSeconds === 0),
      ),
    );
    expect(ttlIndexes.map(([index]) => Object.keys(index!.key))).to.deep.equal([
      ['metadata.rememberedUntil'],
      ['expiresAt'],
    ]);
    const given = newPdf(Buffer.from('%PDF-'), await fixture.account2());
    const { expiresAt } = await pdfStore().save(given, never);
    const chunk = await storedPdfChunks.findOne({ files_id: given.renderId });
    expect(chunk!.expiresAt.getTime() - expiresAt.getTime()).to.equal(10 * 60_000);
  });

  it('is rejected before the render when the account has reached its storage limit', async () => {
    const owner = await fixture.createUser({ role: 'owner', account: await fixture.account2() });
    const team = await fixture.store.console.teams.findOne({ 'members.user': owner.id });
    const mine = await connect(
      'present',
      fixture.url,
      (await authorizeApp(fixture, owner)).access_token,
    );
    const full = newPdf(Buffer.alloc(2 ** 20), team!._id);
    await pdfStore().save(full, never);
    const rejected = await mine.render(HELLO);
    expect(rejected.isError).to.equal(true);
    expect(textOf(rejected)).to.match(
      /^rate_limited: The account has reached its storage limit for PDF links \(1 MiB\).*\nTry again in \d+ s\./,
    );
    await fixture.store.console.storedPdfs.updateOne(
      { _id: full.renderId },
      { $set: { 'metadata.expiresAt': new Date() } },
    );
    expect((await mine.render(HELLO)).isError ?? false).to.equal(false);
  });
});
