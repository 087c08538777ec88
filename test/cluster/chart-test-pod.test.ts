import { execFile } from 'node:child_process';
import { expect } from 'chai';
import { type Installation, installation } from '../support/installation.ts';
import { findHelm, type KubeObject, one, type Values } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

describe('the pod of helm test', function () {
  this.timeout(2 * MINUTE_MS);
  let site: Installation;
  let closed: Installation;
  let pod: (values: Values) => Promise<KubeObject>;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    pod = async values => one(await helm.template(values), 'Pod').spec.containers[0];
    site = await installation();
    closed = await installation({ env: { PRESSROOM_TRIAL: 'off' } });
  });
  after(async () => {
    await site?.stop();
    await closed?.stop();
  });

  /**
   * Runs its command against an installation; the time limit is a second, so that it tries again
   * once or not at all.
   */
  async function run(
    values: Values,
    { url, key }: { url: string; key: string },
  ): Promise<{ code: number; said: string }> {
    const { command, args, env } = await pod({
      ...values,
      test: { ...(values.test as object), timeoutSeconds: 10 },
    });
    const here: Record<string, string> = {
      PRESSROOM_TEST_URL: url,
      PRESSROOM_TEST_TIMEOUT_SECONDS: '1',
      PRESSROOM_TEST_KEY: key,
    };
    const given = Object.fromEntries(
      env.map(({ name, value }: KubeObject) => [name, here[name] ?? value]),
    );
    return new Promise(resolve => {
      execFile(
        command[0],
        [...command.slice(1), ...args],
        { env: { PATH: process.env.PATH, ...given } },
        (error, stdout, stderr) =>
          resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
      );
    });
  }

  it('renders a page as a visitor', async () => {
    const { code, said } = await run({}, site);
    expect(said).to.match(/v1\/trial\/render answered with a PDF of \d+ bytes/);
    expect(code).to.equal(0);
  });

  it('renders a page with the key that it is given', async () => {
    const { code, said } = await run(MATRIX['Secrets of the operator']!, closed);
    expect(said).to.match(/v1\/render answered with a PDF/);
    expect(code).to.equal(0);
  });

  it('fails at once, and says why, without a key where trial renders are off', async () => {
    const { code, said } = await run({}, closed);
    expect(said).to.match(/Trial renders are switched off: name a key in test\.existingSecret/);
    expect(code).to.equal(1);
  });

  it('fails with the answer when the key is refused', async () => {
    const { code, said } = await run(MATRIX['Secrets of the operator']!, {
      url: site.url,
      key: 'pressroom_live_wrong',
    });
    expect(said).to.match(/answered 401: .*unauthorized/);
    expect(code).to.equal(1);
  });

  it('fails with the reason when nobody answers', async () => {
    const { code, said } = await run({}, { url: 'http://127.0.0.1:9', key: '' });
    expect(said).to.match(/127\.0\.0\.1:9/);
    expect(code).to.equal(1);
  });
});
