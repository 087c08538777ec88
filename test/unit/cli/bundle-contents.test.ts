// Objects and logs with a secret in each place where a text fits.
import { expect } from 'chai';
import {
  shownChecks,
  shownConfiguration,
  shownDeployment,
  shownEvent,
  shownLogLine,
  shownMetrics,
  shownPod,
  shownPool,
} from '../../../cli/bundle-contents.ts';

const SECRETS = [
  'pressroom_live_4f9QmT7bXz1LrC8sVw2KpN6yHd3JgA5eUoRi0B',
  'pepper-71d0c5e9a3b2f864',
  'mongo-password-5e2d9c',
  'sk_live_51Hq8ZpKXw3vT',
  'whsec_9fK2mQx7',
  'eyJhbGciOiJIUzI1NiJ9.e30.4hq0',
  'LongWordWithoutAnyDigitInIt',
];
const ALL = SECRETS.join(' ');
const [KEY, PEPPER, PASSWORD] = SECRETS as [string, string, string];

const metadata = {
  name: 'pressroom-api-1',
  annotations: { note: ALL },
  labels: { note: ALL },
  managedFields: [ALL],
};

/** Fails with the secret that is shown. */
function expectNoSecret(shown: unknown) {
  for (const secret of SECRETS) expect(JSON.stringify(shown)).to.not.include(secret);
}

const env = (variables: Record<string, string>) =>
  shownConfiguration(Object.entries(variables).map(([name, value]) => ({ name, value })));

describe('what a support bundle contains', () => {
  it('shows numbers, durations, sizes, switches and choices of the configuration', () => {
    const shown = {
      PRESSROOM_QUEUE_TIMEOUT: '45s',
      PRESSROOM_BODY_MAX: '20MiB',
      PRESSROOM_TRIAL: 'off',
      PRESSROOM_LOG_LEVEL: 'debug',
      PRESSROOM_SLOTS: '4',
    };
    expect(env(shown)).to.deep.equal(shown);
  });

  it('only names a variable whose value is a secret, is not accepted or is a text', () => {
    const names = [
      'MONGODB_URI',
      'PRESSROOM_PEPPER',
      'PRESSROOM_BODY_MAX',
      'PRESSROOM_OIDC_DOMAINS',
      'PRESSROOM_PROMETHEUS_TOKEN',
    ];
    expect(env(Object.fromEntries(names.map(name => [name, PEPPER])))).to.deep.equal(
      Object.fromEntries(names.map(name => [name, '(set, not shown)'])),
    );
    expect(
      shownConfiguration([
        { name: 'PRESSROOM_ADMIN_PASSWORD', valueFrom: { secretKeyRef: { name: ALL } } },
      ]),
    ).to.deep.equal({ PRESSROOM_ADMIN_PASSWORD: '(set from another object)' });
  });

  it('leaves out variables that are not of Pressroom', () => {
    expect(env({ HTTPS_PROXY: `http://user:${PASSWORD}@proxy`, TOKEN: KEY })).to.deep.equal({});
  });

  it('shows addresses of the configuration without user, path and query', () => {
    expect(
      env({
        PRESSROOM_PUBLIC_URL: `https://user:${PASSWORD}@pdf.example.com:8443/x?token=${KEY}`,
        PRESSROOM_WORKERS: 'dns://pressroom-workers:9222',
        PRESSROOM_TRUSTED_PROXIES: `10.0.0.0/8, ${PEPPER}=`,
      }),
    ).to.deep.equal({
      PRESSROOM_PUBLIC_URL: 'https://pdf.example.com:8443',
      PRESSROOM_WORKERS: 'dns://pressroom-workers:9222',
      PRESSROOM_TRUSTED_PROXIES: '10.0.0.0/8,(not shown)',
    });
  });

  it('shows the listed fields of a log line and no other field', () => {
    const line = {
      level: 'info',
      time: '2026-11-26T19:00:00.000Z',
      msg: 'request',
      status: 200,
      ms: 12.5,
      path: `/x?${ALL}`,
      headers: ALL,
      code: 'ok',
    };
    expect(JSON.parse(shownLogLine(JSON.stringify(line))!)).to.deep.equal({
      level: 'info',
      time: '2026-11-26T19:00:00.000Z',
      msg: 'request',
      status: 200,
      ms: 12.5,
      code: 'ok',
    });
  });

  it('leaves out a message or a field of a log line that does not have its form', () => {
    for (const secret of SECRETS) {
      const line = { level: secret, code: secret, reason: secret, requestId: secret, ms: secret };
      for (const msg of [secret, `connect to mongodb://app:${secret}@db/`])
        expect(shownLogLine(JSON.stringify({ ...line, msg }))).to.equal('{}');
      expect(shownLogLine(`plain text ${secret}`)).to.equal(undefined);
    }
  });

  it('shows state and reasons of a pod without messages, annotations and variables', () => {
    const shown = shownPod({
      metadata,
      spec: { containers: [{ env: [{ name: 'X', value: ALL }] }] },
      status: {
        phase: 'Running',
        message: ALL,
        conditions: [{ type: 'Ready', status: 'True', message: ALL }],
        containerStatuses: [
          {
            name: 'api',
            restartCount: 3,
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137, message: ALL } },
          },
        ],
      },
    });
    expectNoSecret(shown);
    expect(shown).to.deep.include({ name: 'pressroom-api-1', phase: 'Running' });
    expect(shown.containers).to.have.length(1);
    expect(shown.containers[0]).to.deep.include({
      restartCount: 3,
      reasons: [{ kind: 'terminated', reason: 'OOMKilled', exitCode: 137 }],
    });
  });

  it('shows images, resources and replicas of a deployment without arguments', () => {
    const container = {
      name: 'api',
      image: 'registry.example.com/pressroom-api:0.1.0',
      args: [ALL],
      env: [{ name: 'PRESSROOM_PEPPER', value: PEPPER }],
      resources: { limits: { memory: '1Gi' } },
    };
    const template = { metadata, spec: { containers: [container] } };
    const shown = shownDeployment({ metadata, spec: { replicas: 2, template } });
    expectNoSecret(shown);
    expect(shown).to.deep.include({ desired: 2 });
    expect(shown.containers[0]).to.deep.include({
      image: 'registry.example.com/pressroom-api:0.1.0',
      limits: { memory: '1Gi' },
      configuration: { PRESSROOM_PEPPER: '(set, not shown)' },
    });
  });

  it('shows sizes and conditions of a pool without variables and messages', () => {
    const shown = shownPool({
      metadata,
      spec: {
        slotsPerPod: 4,
        env: [{ name: 'TOKEN', value: ALL }],
        scaling: { minReplicas: 1, maxReplicas: 9 },
      },
      status: {
        readyReplicas: 4,
        lastScaleReason: ALL,
        conditions: [{ type: 'Ready', status: 'True', reason: 'Ready', message: ALL }],
      },
    });
    expectNoSecret(shown);
    expect(shown).to.deep.include({
      spec: { slotsPerPod: 4, minReplicas: 1, maxReplicas: 9 },
      status: { readyReplicas: 4 },
    });
    expect(shown.conditions[0]).to.include({ type: 'Ready', status: 'True', reason: 'Ready' });
  });

  it('shows the reason of an event without its message', () => {
    const involvedObject = { kind: 'Pod', name: 'pressroom-api-1' };
    const shown = shownEvent({
      metadata,
      reason: 'FailedScheduling',
      message: ALL,
      involvedObject,
    });
    expectNoSecret(shown);
    expect(shown).to.include({ reason: 'FailedScheduling', ...involvedObject });
  });

  it('shows the metrics of Pressroom, of the process and of Node only', () => {
    const text = `# HELP pressroom_slots ${ALL}\npressroom_slots{state="ready"} 2\nother{token="${KEY}"} 1\nprocess_cpu_seconds_total 1.5e-3\n`;
    expect(shownMetrics(text)).to.equal(
      'pressroom_slots{state="ready"} 2\nprocess_cpu_seconds_total 1.5e-3',
    );
  });

  it('shows the checks of doctor without user and query of URLs', () => {
    const message = `http://user:${PASSWORD}@prometheus:9090/x?token=${KEY} does not respond.`;
    const checks = [{ subject: 'Prometheus', level: 'error', message, details: ALL }];
    expect(shownChecks({ checks, env: ALL })).to.deep.equal([
      {
        subject: 'Prometheus',
        level: 'error',
        message: 'http://…@prometheus:9090/x?… does not respond.',
      },
    ]);
  });
});
