// `pressroom batch` with a real installation: mistakes, interrupted runs, a full queue, results.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../../support/run-program.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const ENV = {
  PRESSROOM_ASYNC: 'on',
  PRESSROOM_SECRET: 'a secret of these tests',
  PRESSROOM_PLANS: 'small=2 queue=100, tiny=1 queue=2',
};
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const page = (name: string) => ({ html: `<h1>Page ${name}</h1>` });
const lines = (...requests: unknown[]) =>
  requests.map(each => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');

describe('pressroom batch', function () {
  this.timeout(90_000);
  const at = temporaryFolder();
  let pressroom: Installation;

  const settings = (of = pressroom) => ({ PRESSROOM_KEY: of.key, PRESSROOM_SERVER: of.url });
  const run = (args: string[], { input = '', of = pressroom } = {}) =>
    runNodeProgram(PRESSROOM_PROGRAM, ['batch', ...args], settings(of), { cwd: at(), input });
  const good = async (...args: string[]) => {
    const ran = await run(args);
    expect(ran.code, ran.errors).to.equal(0);
    expect(ran.out).to.equal('');
    return ran.errors;
  };
  const bad = async (...args: string[]) => {
    const ran = await run(args);
    expect(ran.code, ran.errors).to.equal(1);
    return ran.errors;
  };
  /** Runs until it is stopped. */
  function start(...args: string[]): ChildProcess {
    const { PATH = '', HOME = '' } = process.env;
    return spawn(process.execPath, [PRESSROOM_PROGRAM, 'batch', ...args], {
      cwd: at(),
      env: { PATH, HOME, ...settings() },
    });
  }
  const pdfs = async (folder: string) =>
    (await readdir(at(folder))).filter(name => !name.startsWith('.')).sort();
  const state = async (folder: string) =>
    JSON.parse(await readFile(at(folder, '.pressroom-batch.json'), 'utf8'));
  const jobs = (of = pressroom) => of.store.asynchronous.jobs.countDocuments();
  const downloads = async () =>
    Number(
      /requests_total{route="\/v1\/renders\/:id\/pdf",outcome="ok"} (\d+)/.exec(
        await pressroom.metrics.text(),
      )![1],
    );

  before(async () => {
    pressroom = await installation({ plan: 'small', env: ENV });
  });
  after(() => pressroom.stop());

  for (const [args, message] of [
    [['x.ndjson'], '--output'],
    [['-o', 'x'], 'file'],
    [['x.ndjson', '-o', 'x', '--batch-size', '1001'], 'at most 1000'],
    [['x.ndjson', '-o', 'x', '--retry-for', 'long'], 'It must be a duration'],
    [['x.ndjson', '-o', 'x', '--key', ''], 'No API key given'],
  ] as const)
    it(`prints the usage error and exits with 2: ${args.join(' ')}`, async () => {
      const { code, errors } = await run([...args]);
      expect(code, errors).to.equal(2);
      expect(errors).to.include(message);
      expect(await readdir(at())).to.deep.equal([]);
    });

  it('reports input that it cannot use, and a wrong key', async () => {
    expect(await bad('none.ndjson', '-o', 'none')).to.match(/^Cannot read none\.ndjson \(ENOENT\)/);
    await writeFile(at('empty.ndjson'), '\n\n');
    expect(await bad('empty.ndjson', '-o', 'none')).to.equal('empty.ndjson is empty.\n');
    await writeFile(at('one.ndjson'), lines(page('1')));
    expect(await bad('one.ndjson', '-o', 'none', '--key', 'pressroom_live_no')).to.match(
      /^The Bearer token .* \(unauthorized, request [-\w]+\)\n$/,
    );
    expect(await bad('one.ndjson', '-o', 'one.ndjson')).to.include('Cannot write to one.ndjson');
    expect(await bad('one.ndjson', '-o', 'none', '--cancel')).to.include('Nothing was submitted');
    expect(await jobs()).to.equal(0);
  });

  it('names an invalid line as in the file, and continues with the corrected file', async () => {
    const before = await jobs();
    const file = (third: string) =>
      lines({ defaults: { format: 'A5' } }, page('1'), '', page('2'), third, page('4'));
    const command = ['lines.ndjson', '-o', 'lines', '--batch-size', '2'];
    await writeFile(at('lines.ndjson'), file('{"htm": 1}'));
    expect(await bad(...command))
      .to.match(/Line 5: .*htm/)
      .and.include('Continue: run the same command again.\n');
    expect((await state('lines')).batches).to.have.length(1);
    await writeFile(at('lines.ndjson'), file(JSON.stringify(page('3'))));
    expect(await good(...command)).to.include('4 of 4 PDFs are in lines.\n');
    expect(await jobs()).to.equal(before + 4);
    expect(await pdfs('lines')).to.deep.equal([2, 4, 5, 6].map(line => `00000${line}.pdf`));
    const fifth = await readFile(at('lines/000005.pdf'));
    expect(await pdfText(fifth)).to.include('Page 3');
    expect(fifth.toString('latin1')).to.match(/MediaBox \[0 0 4(19|20)/);
  });

  it('reads standard input, and names PDFs by reference or filename', async () => {
    const input = lines(
      { ...page('1'), reference: 'a/b: 1', filename: 'not used' },
      { ...page('2'), filename: 'Rechnung ü' },
      { ...page('3\u2028'), reference: '../..' },
      { ...page('4'), reference: '請'.repeat(80) },
    );
    const first = await run(['-', '-o', 'named'], { input });
    expect(first.code, first.errors).to.equal(0);
    expect(await pdfs('named')).to.deep.equal([
      '000001-a-b- 1.pdf',
      '000002-Rechnung ü.pdf',
      '000003-render.pdf',
      `000004-${'請'.repeat(60)}.pdf`,
    ]);
    const [before, stored] = [await downloads(), await jobs()];
    const second = await run(['-', '-o', 'named'], { input });
    expect(second.errors).to.equal('4 of 4 PDFs are in named.\n');
    expect([await downloads(), await jobs()]).to.deep.equal([before, stored]);
  });

  it('refuses another input in the same directory', async () => {
    await writeFile(at('same.ndjson'), lines(page('1'), page('2'), page('3')));
    await good('same.ndjson', '-o', 'same', '--batch-size', '2');
    const stored = await jobs();
    for (const changed of [
      [page('other'), page('2'), page('3')],
      [page('1'), page('2'), page('other')],
      [page('1'), page('2')],
    ]) {
      await writeFile(at('same.ndjson'), lines(...changed));
      expect(await bad('same.ndjson', '-o', 'same')).to.match(
        /^same belongs to another input: .* at line [23] or before\. .*--output/,
      );
    }
    await writeFile(at('same.ndjson'), lines(page('1'), page('2'), page('3'), page('4')));
    expect(await good('same.ndjson', '-o', 'same')).to.include('4 of 4 PDFs');
    expect(await jobs()).to.equal(stored + 1);
  });

  it('lists renders without a PDF by line, and exits with 1', async () => {
    const failing = { ...LONG, timeout: '1s' };
    await writeFile(at('some.ndjson'), lines(page('1'), failing, page('3')));
    for (let runs = 0; runs < 2; runs++)
      expect(await bad('some.ndjson', '-o', 'some')).to.match(
        /^Line 2: .* \(render_failed, page_timeout\)\n2 of 3 PDFs are in some, 1 failed\.\n$/m,
      );
    expect(await pdfs('some')).to.deep.equal(['000001.pdf', '000003.pdf']);
  });

  for (const [name, stop] of [
    ['Ctrl-C', async (child: ChildProcess) => child.kill('SIGINT')],
    [
      'kill -9',
      async () =>
        process.kill(Number(await readFile(at('stopped', '.pressroom-batch.lock'))), 'SIGKILL'),
    ],
  ] as const)
    it(`continues after ${name}`, async () => {
      const before = await jobs();
      const slow = { ...page('slow'), wait_delay: '3s' };
      const folder = name === 'Ctrl-C' ? 'interrupted' : 'stopped';
      const command = ['stopped.ndjson', '-o', folder, '--batch-size', '3'];
      await writeFile(
        at('stopped.ndjson'),
        lines(page('1'), page('2'), slow, slow, page('5'), page('6')),
      );
      const child = start(...command);
      const [errors, end] = [text(child.stderr!), once(child, 'close')];
      await eventually(async () =>
        expect(await pdfs(folder)).to.include.members(['000001.pdf', '000002.pdf']),
      );
      await stop(child);
      await end;
      if (name === 'Ctrl-C') {
        expect(child.exitCode).to.equal(1);
        expect(await errors).to.match(
          /^Stopped\.\n\d of \d\+? PDFs are in interrupted\. Submitted renders go on\.\nContinue: run the same command again\.\nCancel them: run it with --cancel\.\n$/m,
        );
      }
      const saved = await stat(at(folder, '000001.pdf'));
      expect(await good(...command)).to.include('6 of 6 PDFs');
      expect(await jobs()).to.equal(before + 6);
      expect(await pdfs(folder)).to.have.length(6);
      expect((await stat(at(folder, '000001.pdf'))).mtimeMs).to.equal(saved.mtimeMs);
      expect((await readdir(at(folder))).sort()[0]).to.equal('.pressroom-batch.json');
    });

  it('does not run twice in one directory, and cancels what it submitted', async () => {
    await writeFile(at('long.ndjson'), lines(LONG, LONG, LONG));
    const child = start('long.ndjson', '-o', 'long', '--batch-size', '2');
    const [errors, end] = [text(child.stderr!), once(child, 'close')];
    await eventually(async () => expect((await state('long')).batches).to.have.length(2));
    expect(await bad('long.ndjson', '-o', 'long')).to.match(/^Process \d+ already writes to long/);
    child.kill('SIGINT');
    await end;
    expect(await errors).to.include('0 of 3');
    expect(await good('long.ndjson', '-o', 'long', '--cancel')).to.equal(
      '3 renders are canceled.\n',
    );
    expect(await bad('long.ndjson', '-o', 'long')).to.include(
      'Line 3: The render was canceled.\n0 of 3 PDFs are in long, 3 failed.\n',
    );
  });

  it('submits nothing again that the server may have', async () => {
    await writeFile(at('gap.ndjson'), lines(page('1')));
    await mkdir(at('gap'));
    const sha256 = createHash('sha256')
      .update(`${lines(page('1'))}\n`)
      .digest('hex');
    const write = (sinceMs: number) => {
      const submitting = { requests: 1, sha256, since: new Date(sinceMs).toISOString() };
      const content = { version: 1, batches: [], submitting };
      return writeFile(at('gap/.pressroom-batch.json'), JSON.stringify(content));
    };
    // As after a crash before the request: the server has no batch.
    await write(Date.now() + 10_000);
    expect(await good('gap.ndjson', '-o', 'gap')).to.include('1 of 1 PDFs');
    // As after a crash before the response: the server has a batch that the state does not have.
    const { batches } = await state('gap');
    await rm(at('gap/000001.pdf'));
    await write(Date.now());
    const stored = await jobs();
    expect(await bad('gap.ndjson', '-o', 'gap'))
      .to.match(/^Lines 1 to 1 were submitted, but the response did not arrive/)
      .and.include(batches[0].id)
      .and.include('--resubmit');
    expect(await jobs()).to.equal(stored);
    await writeFile(at('gap.ndjson'), lines(page('other')));
    expect(await bad('gap.ndjson', '-o', 'gap', '--adopt', batches[0].id)).to.include('unchanged');
    await writeFile(at('gap.ndjson'), lines(page('1')));
    await good('gap.ndjson', '-o', 'gap', '--adopt', batches[0].id);
    expect((await state('gap')).batches).to.deep.equal(batches);
    expect(await jobs()).to.equal(stored);
    await rm(at('gap/000001.pdf'));
    await write(Date.now());
    await good('gap.ndjson', '-o', 'gap', '--resubmit');
    expect(await jobs()).to.equal(stored + 1);
  });

  it('does not repeat a submission whose response is lost', async () => {
    const proxy = createServer(client => {
      const server = connect(pressroom.api.port(), '127.0.0.1');
      let isSubmission = false;
      client.on('data', piece => {
        isSubmission ||= piece.includes('POST /v1/batches');
        server.write(piece);
      });
      server.on('data', piece => (isSubmission ? client.destroy() : client.write(piece)));
      for (const socket of [client, server]) {
        socket.on('error', () => {});
        socket.on('close', () => {
          client.destroy();
          server.destroy();
        });
      }
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    const stored = await jobs();
    await writeFile(at('lost.ndjson'), lines(page('lost')));
    const command = ['lost.ndjson', '-o', 'lost'];
    const errors = await bad(...command, '--server', `http://127.0.0.1:${port}`);
    const [, id] = /--adopt (bat_[0-9a-f]{32})/.exec(errors)!;
    const listed = await runNodeProgram(
      PRESSROOM_PROGRAM,
      ['renders', 'list', '--batch', id!, '--json'],
      settings(),
    );
    expect(JSON.parse(listed.out)).to.have.length(1);
    expect(await jobs()).to.equal(stored + 1);
    expect(await good(...command, '--adopt', id!)).to.include('1 of 1 PDFs');
    expect(await jobs()).to.equal(stored + 1);
    proxy.close();
  });

  it('takes no PDFs of another run for its own', async () => {
    await mkdir(at('foreign'));
    await writeFile(at('foreign/000001.pdf'), 'of another run');
    await writeFile(at('foreign.ndjson'), lines(page('1')));
    expect(await bad('foreign.ndjson', '-o', 'foreign')).to.match(
      /^foreign has 000001\.pdf, but no \.pressroom-batch\.json .*--output\.\n$/,
    );
  });

  it('reports a batch that the server does not have', async () => {
    await writeFile(at('gone.ndjson'), lines(page('1')));
    await good('gone.ndjson', '-o', 'gone');
    const saved = await readFile(at('gone/.pressroom-batch.json'), 'utf8');
    await mkdir(at('moved'));
    const id = `bat_${'0'.repeat(32)}`;
    await writeFile(at('moved/.pressroom-batch.json'), saved.replace(/bat_\w+/, id));
    expect(await bad('gone.ndjson', '-o', 'moved'))
      .to.match(new RegExp(`^The server does not have the batch ${id}`))
      .and.include('--server and --key')
      .and.include('not_found');
  });

  it('shows a bar on a terminal', async () => {
    await writeFile(at('bar.ndjson'), lines(page('1'), { ...page('2'), wait_delay: '3s' }));
    const { PATH = '', HOME = '' } = process.env;
    const command = `${process.execPath} ${PRESSROOM_PROGRAM} batch bar.ndjson -o bar`;
    const terminal = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: at(),
      env: { PATH, HOME, TERM: 'xterm', ...settings() },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const shown = await text(terminal.stdout);
    expect(shown).to.include(`[${'#'.repeat(15)}${'.'.repeat(15)}] 1 of 2 PDFs`);
    expect(shown.trimEnd()).to.match(/\r\x1b\[K2 of 2 PDFs are in bar\.$/);
  });

  it('goes on when the API restarts', async () => {
    const stored = await jobs();
    const slow = { ...page('slow'), wait_delay: '2s' };
    await writeFile(at('restart.ndjson'), lines(page('1'), slow, slow, slow));
    const child = start('restart.ndjson', '-o', 'restart', '--batch-size', '2');
    const [errors, end] = [text(child.stderr!), once(child, 'close')];
    await eventually(async () => expect(await pdfs('restart')).to.include('000001.pdf'));
    const port = String(pressroom.api.port());
    await pressroom.stop();
    pressroom = await installation({
      plan: 'small',
      uri: pressroom.uri,
      env: { ...ENV, PRESSROOM_PORT: port },
    });
    await end;
    expect(child.exitCode, await errors).to.equal(0);
    expect(await pdfs('restart')).to.have.length(4);
    expect(await jobs()).to.equal(stored + 4);
    // Nothing listens there: the submission waits, and gives up.
    const server = 'http://127.0.0.1:1';
    const away = await bad('restart.ndjson', '-o', 'away', '--server', server, '--retry-for', '3s');
    expect(away).to.match(/^(Cannot connect to Pressroom at .*)\nTrying again\.\n\1\n$/);
  });

  it('waits for room in the queue, and gives up after --retry-for', async () => {
    const tiny = await installation({ plan: 'tiny', env: ENV });
    await writeFile(at('full.ndjson'), lines(...[1, 2, 3, 4, 5].map(n => page(String(n)))));
    try {
      const done = await run(['full.ndjson', '-o', 'full', '--batch-size', '2'], { of: tiny });
      expect(done.code, done.errors).to.equal(0);
      expect(done.errors).to.include('5 of 5 PDFs');
      expect(await jobs(tiny)).to.equal(5);
      const args = ['full.ndjson', '-o', 'never', '--retry-for', '1s'];
      const never = await run(args, { of: tiny });
      expect(never.code).to.equal(1);
      expect(never.errors).to.include('concurrency_limit').and.include('Submit smaller batches');
      expect(never.errors).not.to.include('0 of');
      expect(await jobs(tiny)).to.equal(5);
    } finally {
      await tiny.stop();
    }
  });
});
