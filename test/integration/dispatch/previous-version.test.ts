// API and worker of the commit before, as processes, beside those of this one: an upgrade replaces
// one after the other.
import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { ownPort } from '../../fault/harness/ports.ts';
import {
  type PressroomProcess,
  ROOT,
  startPressroom,
} from '../../fault/harness/pressroom-process.ts';
import { renderCall } from '../../support/http-call.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const run = promisify(execFile);
const PREVIOUS = 'HEAD~1';
const PEPPER = 'a pepper of both versions';
const SECRETS = { PRESSROOM_POOL_SECRET: 'a pool secret of both versions' };
const CALLERS = 4;

describe('the version of the commit before', function () {
  this.timeout(120_000);
  const at = temporaryFolder();
  const started: PressroomProcess[] = [];
  let previous: string;
  let site: Installation | undefined;

  before(async function () {
    const git = (...args: string[]) => run('git', args, { cwd: ROOT });
    const has = await git('rev-parse', '--verify', '--quiet', PREVIOUS).then(
      () => true,
      () => false,
    );
    if (!has) skip(this, 'this clone has no commit before its last one');
    previous = at('previous');
    await mkdir(previous);
    const archive = at('previous.tar');
    await git('archive', `--output=${archive}`, PREVIOUS);
    await run('tar', ['-xf', archive, '-C', previous]);
    await symlink(join(ROOT, 'node_modules'), join(previous, 'node_modules'));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map(each => each.kill()));
    await site?.stop();
    site = undefined;
  });

  async function start(
    kind: 'api' | 'worker',
    root: string,
    env: Record<string, string>,
  ): Promise<PressroomProcess> {
    const process = startPressroom(kind, kind, await ownPort(), { ...SECRETS, ...env }, root);
    started.push(process);
    await process.untilReady();
    return process;
  }

  /** Renders for several callers, then stops both, which lose and leave nothing. */
  async function renderWith(roots: { api: string; worker: string }): Promise<void> {
    const [gateway, port] = [await ownPort(), await ownPort()];
    const address = `ws://127.0.0.1:${gateway}`;
    site = await installation({
      workers: 0,
      plan: 'growth',
      env: { PRESSROOM_WORKERS: address, PRESSROOM_PEPPER: PEPPER },
    });
    const worker = await start('worker', roots.worker, {
      PRESSROOM_GATEWAY_HOST: '127.0.0.1',
      PRESSROOM_GATEWAY_PORT: String(gateway),
      PRESSROOM_SLOTS: '2',
    });
    const api = await start('api', roots.api, {
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: String(port),
      PRESSROOM_WORKERS: address,
      PRESSROOM_PEPPER: PEPPER,
      PRESSROOM_DRAIN_DELAY: '0s',
      MONGODB_URI: site.uri,
    });
    const { key } = site;
    const caller = async (number: number) => {
      for (const kind of ['static', 'script']) {
        const script = kind === 'script' ? '<script>document.body.append(" drawn")</script>' : '';
        const html = `<h1>Page ${number} ${kind}</h1>${script}`;
        const answer = await renderCall(port, key, { html });
        expect(answer.status, String(answer.body)).to.equal(200);
        expect(await pdfText(answer.body)).to.include(`Page ${number} ${kind}`);
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)));
    const failed = await renderCall(port, key, { html: '<p>x', wait_for_expression: 'crash(' });
    expect(failed.status).to.equal(400);
    const readOnly = await site.accounts.createKey(site.account, { name: 'r', scopes: ['read'] });
    const rejected = await renderCall(port, readOnly.text, { html: '<p>x' });
    expect(rejected.status, 'a key of this version without the scope `render`').to.equal(401);
    expect(await site.usage()).to.equal(2 * CALLERS);
    expect(await site.running()).to.equal(0);
    expect(await api.kill('SIGTERM'), 'exit code of the API').to.equal(0);
    expect(await worker.kill('SIGTERM'), 'exit code of the worker').to.equal(0);
  }

  it('has a worker that renders for this API', () => renderWith({ api: ROOT, worker: previous }));

  it('has an API that renders on this worker', () => renderWith({ api: previous, worker: ROOT }));
});
