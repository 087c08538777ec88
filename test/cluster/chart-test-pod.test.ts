import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { type Installation, installation } from '../support/installation.ts';
import { findHelm, type KubeObject, one, type Values } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('pod of helm test', function () {
  this.timeout(2 * MINUTE_MS);
  let target: Installation;
  let withoutTrial: Installation;
  let pod: (values: Values) => Promise<KubeObject>;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    pod = async values => one(await helm.template(values), 'Pod').spec.containers[0];
    target = await installation();
    withoutTrial = await installation({ env: { PRESSROOM_TRIAL: 'off' } });
  });
  after(async () => {
    await target?.stop();
    await withoutTrial?.stop();
  });

  /** Runs its command against an installation, with a limit of one second: at most one retry. */
  async function run(
    values: Values,
    { url, key }: { url: string; key: string },
  ): Promise<{ code: number; output: string }> {
    const { command, args, env } = await pod({
      ...values,
      test: { ...(values.test as object), timeoutSeconds: 10 },
    });
    const overrides: Record<string, string> = {
      PRESSROOM_TEST_URL: url,
      PRESSROOM_TEST_TIMEOUT_SECONDS: '1',
      PRESSROOM_TEST_KEY: key,
    };
    const given = Object.fromEntries(
      env.map(({ name, value }: KubeObject) => [name, overrides[name] ?? value]),
    );
    return new Promise(resolve => {
      execFile(
        command[0],
        [...command.slice(1), ...args],
        { env: { PATH: process.env.PATH, ...given } },
        (error, stdout, stderr) =>
          resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
      );
    });
  }

  it('renders a page as a trial render', async () => {
    const { code, output } = await run({}, target);
    expect(output).to.match(/v1\/trial\/render returned a PDF of \d+ bytes/);
    expect(code).to.equal(0);
  });

  it('renders a page with the configured API key', async () => {
    const { code, output } = await run(MATRIX['existing Secrets']!, withoutTrial);
    expect(output).to.match(/v1\/render returned a PDF/);
    expect(code).to.equal(0);
  });

  it('fails immediately without an API key if trial renders are disabled', async () => {
    const { code, output } = await run({}, withoutTrial);
    expect(output).to.match(/Trial renders are disabled\. Set test\.existingSecret/);
    expect(code).to.equal(1);
  });

  it('fails with the response of the API if the API key is invalid', async () => {
    const { code, output } = await run(MATRIX['existing Secrets']!, {
      url: target.url,
      key: 'pressroom_live_wrong',
    });
    expect(output).to.match(/returned 401: .*unauthorized/);
    expect(code).to.equal(1);
  });

  it('fails with the cause if the Service is unreachable', async () => {
    const { code, output } = await run({}, { url: 'http://127.0.0.1:9', key: '' });
    expect(output).to.match(/127\.0\.0\.1:9/);
    expect(code).to.equal(1);
  });
});
