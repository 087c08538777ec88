// `pressroom render --async` and `pressroom renders`, as scripts and people use them.
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { type AsyncClient, asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../../support/run-program.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const OTHER_ID = `rnd_${'0'.repeat(32)}`;

describe('asynchronous renders on the command line', function () {
  this.timeout(60_000);
  const at = temporaryFolder();
  let pressroom: Installation;
  let client: AsyncClient;

  const run = (args: string[], settings: Record<string, string> = {}) =>
    runNodeProgram(
      PRESSROOM_PROGRAM,
      args,
      { PRESSROOM_KEY: pressroom.key, PRESSROOM_SERVER: pressroom.url, ...settings },
      { cwd: at() },
    );
  const good = async (...args: string[]) => {
    const ran = await run(args);
    expect(ran.code, ran.errors).to.equal(0);
    return ran;
  };
  const bad = async (...args: string[]) => {
    const ran = await run(args);
    expect(ran.code, ran.errors).to.equal(1);
    expect(ran.out).to.equal('');
    return ran.errors;
  };
  const json = async (...args: string[]) => JSON.parse((await good(...args, '--json')).out);

  before(async () => {
    pressroom = await installation({
      plan: 'starter',
      env: { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' },
    });
    client = asyncClient(pressroom.api.port(), pressroom.key);
    await writeFile(at('invoice.html'), '<h1>Invoice 42</h1>');
  });
  after(() => pressroom.stop());

  it('reports an unknown ID, a wrong key and an unreachable server', async () => {
    for (const command of ['get', 'wait', 'cancel']) {
      expect(await bad('renders', command, OTHER_ID)).to.match(
        /^This account has no asynchronous render with this ID\. \(not_found, request [-\w]+\)\n$/,
      );
      expect(await bad('renders', command, '../x?')).to.include('not_found');
    }
    expect(await bad('renders', 'list', '--key', 'pressroom_live_no')).to.include('unauthorized');
    expect(await bad('renders', 'wait', OTHER_ID, '--server', 'http://127.0.0.1:1')).to.match(
      /^Cannot connect to Pressroom at http:\/\/127\.0\.0\.1:1 /,
    );
  });

  for (const [args, message] of [
    [['renders', 'get', OTHER_ID, '--key', ''], 'No API key given'],
    [['renders', 'list', '--status', 'done'], 'queued, running'],
    [['renders', 'list', '--limit', '0'], 'It must be 1 or more.'],
    [['renders', 'wait', OTHER_ID, '--timeout', 'soon'], 'It must be a duration'],
    [['render', 'invoice.html', '--ttl', '1h'], '--ttl is only for --async'],
    [['render', 'invoice.html', '--async', '-o', 'a.pdf'], '--async saves no file'],
  ] as const)
    it(`prints the usage error and exits with 2: ${args.join(' ')}`, async () => {
      const { code, errors, out } = await run([...args], { PRESSROOM_KEY: pressroom.key });
      expect(code, errors).to.equal(2);
      expect(errors).to.include(message);
      expect(out).to.equal('');
    });

  it('submits nothing that the API rejects', async () => {
    expect(await bad('render', 'invoice.html', '--async', '--ttl', '1s'))
      .to.include('`ttl` must be a duration')
      .and.include('validation_error');
    expect(await json('renders', 'list')).to.deep.equal([]);
    expect((await good('renders', 'list')).out).to.match(/^ID +STATUS +CREATED .*\n$/);
  });

  it('submits a render, waits for it and saves its PDF', async () => {
    const submitted = await good(
      ...['render', 'invoice.html', '--async', '--ttl', '90m'],
      ...['--filename', 'Invoice ü 42', '--reference', 'invoice-42'],
    );
    const [, id] = /^(rnd_[0-9a-f]{32})\thttp:\/\/localhost:8080\/v1\/renders\/\1\n$/.exec(
      submitted.out,
    )!;
    expect(submitted.errors).to.equal(
      `Submitted. Wait for the PDF: pressroom renders wait ${id}\n`,
    );
    const waited = await good('renders', 'wait', id!);
    expect(waited).to.include({ out: '', errors: 'Saved Invoice ü 42.pdf (1 page).\n' });
    expect(await pdfText(await readFile(at('Invoice ü 42.pdf')))).to.include('Invoice 42');
    await good('renders', 'wait', id!, '-o', 'other.pdf');
    const piped = await good('renders', 'wait', id!, '-o', '-');
    expect(piped.out.slice(0, 5)).to.equal('%PDF-');
    const render = await json('renders', 'get', id!);
    expect(render).to.include({ id, status: 'succeeded', reference: 'invoice-42' });
    expect(Date.parse(render.expires_at) - Date.parse(render.created_at)).to.equal(5_400_000);
    const shown = (await good('renders', 'get', id!)).out;
    expect(shown)
      .to.match(/^Status {5}succeeded$/m)
      .and.match(/^Reference {2}invoice-42$/m);
    expect(await bad('renders', 'cancel', id!)).to.include('already ended: it is succeeded');
  });

  it('saves a PDF without a filename under the ID of the render', async () => {
    const { id } = await client.submit({ html: 'x' });
    expect((await good('renders', 'wait', id)).errors).to.equal(`Saved ${id}.pdf (1 page).\n`);
  });

  it('shortens a filename that file systems do not allow', async () => {
    const { id } = await client.submit({ html: 'x', filename: '𠮷'.repeat(80) });
    const { errors } = await good('renders', 'wait', id);
    expect(errors).to.equal(`Saved ${'𠮷'.repeat(62)}.pdf (1 page).\n`);
  });

  it('exits with 1 and saves nothing when the render failed, was canceled or expired', async () => {
    const failed = await client.submit({ ...LONG, timeout: '1s' });
    expect(await bad('renders', 'wait', failed.id)).to.match(
      new RegExp(`^Render ${failed.id} failed: .+ \\(render_failed, page_timeout\\)\n$`),
    );
    expect((await good('renders', 'get', failed.id)).out).to.include('page_timeout');
    const canceled = await client.submit(LONG);
    const waiting = bad('renders', 'wait', canceled.id, '-o', 'canceled.pdf');
    expect((await good('renders', 'cancel', canceled.id)).errors).to.equal(
      `Canceled render ${canceled.id}.\n`,
    );
    expect(await waiting).to.equal(`Render ${canceled.id} was canceled. There is no PDF.\n`);
    const { id } = await client.submit(LONG);
    const jobs = pressroom.store.asynchronous.jobs;
    await jobs.updateOne({ _id: id }, { $set: { status: 'expired', endedAt: new Date() } });
    expect(await bad('renders', 'wait', id)).to.include('expired before it ended');
    const late = await client.submit({ html: 'x' });
    await client.end(late.id);
    await jobs.updateOne({ _id: late.id }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    expect(await bad('renders', 'wait', late.id, '-o', 'late.pdf')).to.include('(gone, request');
    const files = await readdir(at());
    expect(files.filter(name => /canceled|late|part/.test(name))).to.deep.equal([]);
  });

  it('stops waiting after --timeout and leaves the render running', async () => {
    const { id } = await client.submit(LONG);
    await eventually(async () => expect((await client.read(id)).status).to.equal('running'));
    expect(await bad('renders', 'wait', id, '--timeout', '300ms')).to.equal(
      `Render ${id} is still running. It was not canceled. Wait again with \`pressroom renders wait ${id}\`.\n`,
    );
    expect((await client.read(id)).status).to.equal('running');
    await good('renders', 'cancel', id);
  });

  it('lists renders by status, newest first, over the pages of the API', async () => {
    const submitted: string[] = [];
    for (let at = 0; at < 103; at++)
      submitted.unshift((await client.submit({ ...LONG, reference: `row ${at}` })).id);
    const queued = await json('renders', 'list', '--status', 'queued', '--limit', '102');
    expect(queued.map(({ id }: { id: string }) => id)).to.deep.equal(submitted.slice(0, 102));
    const lines = (await good('renders', 'list', '--limit', '2')).out.split('\n');
    expect(lines).to.have.length(4);
    expect(lines[1]).to.match(new RegExp(`^${submitted[0]} +queued +[-\\d]+ [:\\d]+Z .* row 102$`));
    for (const id of submitted) await client.call('DELETE', `/${id}`);
  });

  it('goes on waiting when the API restarts', async () => {
    const reads = async () =>
      Number(
        /requests_total{route="\/v1\/renders\/:id",outcome="ok"} (\d+)/.exec(
          await pressroom.metrics.text(),
        )![1],
      );
    const before = await reads();
    const { id } = await client.submit({ html: 'x', wait_delay: '6s' });
    const waiting = run(['renders', 'wait', id, '-o', 'restarted.pdf']);
    await eventually(async () => expect(await reads()).to.be.greaterThan(before));
    const port = String(pressroom.api.port());
    await pressroom.stop();
    pressroom = await installation({
      plan: 'starter',
      uri: pressroom.uri,
      env: {
        PRESSROOM_ASYNC: 'on',
        PRESSROOM_SECRET: 'a secret of these tests',
        PRESSROOM_PORT: port,
      },
    });
    expect((await waiting).errors).to.equal('Saved restarted.pdf (1 page).\n');
  });

  it('explains that asynchronous renders are off', async () => {
    const without = await installation({ workers: 0 });
    try {
      const settings = { PRESSROOM_SERVER: without.url, PRESSROOM_KEY: without.key };
      for (const args of [
        ['render', 'invoice.html', '--async'],
        ['renders', 'list'],
      ]) {
        const { code, errors } = await run(args, settings);
        expect(code).to.equal(1);
        expect(errors).to.include('PRESSROOM_ASYNC=on').and.include('not_found');
      }
    } finally {
      await without.stop();
    }
  });
});
