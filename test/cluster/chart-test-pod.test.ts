import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Installation, installation, TEST_PEPPER } from '../support/installation.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, type KubeObject, one, type Values } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const COMMAND = fileURLToPath(new URL('../../cli/in-image.ts', import.meta.url));
const ACCOUNT = 'helm-test';

describe('pod of helm test', function () {
  this.timeout(2 * MINUTE_MS);
  let target: Installation;
  const folder = temporaryFolder();
  let pod: (values: Values) => Promise<KubeObject>;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    pod = async values => one(await helm.template(values), 'Pod').spec.containers[0];
    target = await installation({ env: { PRESSROOM_TRIAL: 'off' } });
    // As in the image of the API.
    const program = folder('pressroom');
    writeFileSync(program, `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
    chmodSync(program, 0o755);
  });
  after(() => target?.stop());

  /** Runs its command against an installation, with a limit of one second: at most one retry. */
  async function run(
    values: Values,
    { url = target.url, key = '', uri = target.uri }: { url?: string; key?: string; uri?: string },
  ): Promise<{ code: number; output: string }> {
    const { command, args, env } = await pod({
      ...values,
      test: { ...(values.test as object), timeoutSeconds: 10 },
    });
    const overrides: Record<string, string> = {
      PRESSROOM_TEST_URL: url,
      PRESSROOM_TEST_TIMEOUT_SECONDS: '1',
      PRESSROOM_TEST_KEY: key,
      PRESSROOM_TEST_KEY_FILE: folder('key'),
      MONGODB_URI: uri,
      PRESSROOM_PEPPER: TEST_PEPPER,
      PRESSROOM_PEPPER_PREVIOUS: '',
    };
    const given = Object.fromEntries(
      env.map(({ name, value }: KubeObject) => [name, overrides[name] ?? value]),
    );
    return new Promise(resolve => {
      execFile(
        command[0],
        [...command.slice(1), ...args],
        { env: { PATH: `${folder('.')}:${process.env.PATH}`, ...given } },
        (error, stdout, stderr) =>
          resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  }

  const keysOfTest = () => target.accounts.listKeys(ACCOUNT);

  it('renders a page with a key of its own, which it revokes', async () => {
    const { code, output } = await run({}, {});
    expect(output).to.match(/v1\/render returned a PDF of \d+ bytes/);
    expect(code).to.equal(0);
    expect(await keysOfTest()).to.deep.equal([]);
  });

  it('runs again, and its renders are not counted', async () => {
    const { code, output } = await run({}, {});
    expect(code, output).to.equal(0);
    const account = await target.accounts.accountByName(ACCOUNT);
    expect(account.usage).to.equal(0);
    expect(await keysOfTest()).to.deep.equal([]);
  });

  it('revokes its key, and no other key of the account, when the test fails', async () => {
    const other = await target.accounts.createKey(ACCOUNT, { name: 'other' });
    const { code, output } = await run({}, { url: 'http://127.0.0.1:9' });
    expect(output).to.match(/127\.0\.0\.1:9/);
    expect(code).to.equal(1);
    expect((await keysOfTest()).map(({ id }) => id)).to.deep.equal([other.key.id]);
    await target.accounts.revokeKey(ACCOUNT, other.key.id);
  });

  it('fails with the cause if MongoDB does not respond', async () => {
    const uri = 'mongodb://127.0.0.1:9/pressroom?serverSelectionTimeoutMS=500';
    const { code, output } = await run({}, { uri });
    expect(output).to.match(/MongoDB does not respond/);
    expect(code).to.equal(1);
  });

  it('renders a page with the configured API key', async () => {
    const { code, output } = await run(MATRIX['existing Secrets']!, { key: target.key });
    expect(output).to.match(/v1\/render returned a PDF/);
    expect(code).to.equal(0);
  });

  it('renders a page with the configured API key in a file', async () => {
    writeFileSync(folder('key'), `${target.key}\n`);
    const { existingSecret } = MATRIX['existing Secrets']!['test'] as { existingSecret: string };
    const { code, output } = await run(
      { secrets: { mountAsFiles: true }, test: { existingSecret } },
      {},
    );
    expect(output).to.match(/v1\/render returned a PDF/);
    expect(code).to.equal(0);
  });

  it('has no access to the database if an API key is configured', async () => {
    const { env, volumeMounts } = await pod(MATRIX['existing Secrets']!);
    expect(env.map(({ name }: KubeObject) => name)).to.deep.equal([
      'PRESSROOM_TEST_URL',
      'PRESSROOM_TEST_TIMEOUT_SECONDS',
      'PRESSROOM_TEST_KEY',
    ]);
    expect(volumeMounts).to.equal(undefined);
  });

  it('fails with the response of the API if the API key is invalid', async () => {
    const key = 'pressroom_live_wrong';
    const { code, output } = await run(MATRIX['existing Secrets']!, { key });
    expect(output).to.match(/returned 401: .*unauthorized/);
    expect(code).to.equal(1);
  });
});
