import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { skip } from '../support/skip.ts';
import { dryRunPod } from './chart/dry-run-pod.ts';
import {
  findHelm,
  type Helm,
  type KubeObject,
  NAMESPACE,
  one,
  podOf,
  RELEASE,
  type Values,
} from './chart/helm.ts';
import { openshiftWith, RESTRICTED_V2, UID_RANGE } from './chart/openshift.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';

const MINUTE_MS = 60_000;
const OPENSHIFT = { openshift: { enabled: true } };

/** Sets of values with all kinds of pods of the release. */
const SETS: Record<string, Values> = {
  'the default values': {},
  'a bundled MongoDB': { mongodb: { existingSecret: '', bundled: { enabled: true } } },
  'the seccomp installer': { seccompInstaller: { enabled: true } },
  'a private CA and other users': {
    caBundle: { configMap: 'company-ca' },
    podSecurityContext: { runAsUser: 20_000, fsGroupChangePolicy: 'OnRootMismatch' },
  },
  'users of the range for the workers': {
    pool: { podSecurityContext: { runAsUser: Number.parseInt(UID_RANGE, 10) + 5 } },
  },
};

describe('chart on OpenShift', function () {
  this.timeout(3 * MINUTE_MS);
  let helm: Helm;
  let cluster: Cluster;
  let constraints: KubeObject;

  const render = async (values: Values) => {
    const objects = await helm.template(values);
    return [...objects, ...childrenOfPool(objects)].filter(
      object => podOf(object) && object.metadata.namespace === NAMESPACE,
    );
  };
  const workerOf = async (values: Values) =>
    (await render(values)).find(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === `${RELEASE}-workers`,
    )!;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const why = whyNoCluster();
    if (why !== undefined) skip(this, why);
    helm = await findHelm(this);
    cluster = await startCluster();
    constraints = one(await helm.template(OPENSHIFT), 'SecurityContextConstraints');
    await cluster.apply(
      openshiftWith({ 'restricted-v2': RESTRICTED_V2, [constraints.metadata.name]: constraints }),
    );
    const accounts = ['default', 'printer', 'room-api', 'room-controller', 'room-workers'];
    const jobs = ['room-apply-crd', 'room-make-secrets'];
    await cluster.apply(
      [...accounts, ...jobs].map(name => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name, namespace: NAMESPACE },
      })),
    );
    const api = (await render({})).find(({ metadata }) => metadata.name === 'room-api')!;
    await eventually(
      async () => expect((await dryRunPod(cluster, api)).status, 'policy is active').to.equal(422),
      MINUTE_MS,
    );
  });
  after(() => cluster?.stop());

  it('has pods that OpenShift rejects for their users and groups by default', async () => {
    for (const object of await render(SETS['a bundled MongoDB']!)) {
      const { status, message } = await dryRunPod(cluster, object);
      expect(status, object.metadata.name).to.equal(422);
      expect(message, object.metadata.name).to.match(/restricted-v2: runAsUser fsGroup/);
    }
  });

  for (const [name, values] of Object.entries(SETS))
    it(`has only pods that OpenShift admits if openshift.enabled is true, with ${name}`, async () => {
      const pods = await render({ ...OPENSHIFT, ...values });
      expect(pods.length).to.be.greaterThan(5);
      for (const object of pods) {
        const { status, message } = await dryRunPod(cluster, object);
        expect(status, `${object.kind} ${object.metadata.name}: ${message}`).to.equal(201);
        const { runAsGroup } = podOf(object)!.spec.securityContext;
        expect(runAsGroup, object.metadata.name).to.equal(undefined);
      }
    });

  it('has workers that need the SecurityContextConstraints for their seccomp profile only', async () => {
    const other = await workerOf({ ...OPENSHIFT, pool: { serviceAccountName: 'printer' } });
    const { status, message } = await dryRunPod(cluster, other);
    expect(status).to.equal(422);
    expect(message).to.match(/restricted-v2: seccompProfile; press-room-workers: user$/);
  });

  it('has workers without a sandbox that restricted-v2 admits', async () => {
    const values = {
      ...OPENSHIFT,
      pool: { serviceAccountName: 'printer', chromeSandbox: { mode: 'Off' } },
    };
    expect((await dryRunPod(cluster, await workerOf(values))).status).to.equal(201);
    const kinds = (await helm.template(values)).map(({ kind }) => kind);
    expect(kinds).not.to.include('SecurityContextConstraints');
  });

  it('has SecurityContextConstraints that differ from restricted-v2 only in the seccomp profile and in what they do not allow', () => {
    const { apiVersion, kind, metadata, users, groups, defaultAddCapabilities, ...rules } =
      constraints;
    expect({ apiVersion, kind }).to.deep.equal({
      apiVersion: 'security.openshift.io/v1',
      kind: 'SecurityContextConstraints',
    });
    expect(metadata.name).to.equal('press-room-workers');
    expect(users).to.deep.equal(['system:serviceaccount:press:room-workers']);
    expect([groups, defaultAddCapabilities]).to.deep.equal([[], []]);
    expect(rules).to.deep.equal({
      ...RESTRICTED_V2,
      seccompProfiles: ['localhost/pressroom/chrome.json'],
      allowedCapabilities: [],
      readOnlyRootFilesystem: true,
      volumes: RESTRICTED_V2.volumes.filter(type => type !== 'image'),
    });
  });

  it('has a seccomp installer that uses the constraints `privileged` in its own namespace', async () => {
    const objects = await helm.template({ ...OPENSHIFT, seccompInstaller: { enabled: true } });
    const { spec } = one(objects, 'DaemonSet').spec.template;
    const [account, binding] = ['ServiceAccount', 'RoleBinding'].map(kind =>
      one(objects, kind, 'room-seccomp'),
    );
    expect(spec.serviceAccountName).to.equal(account.metadata.name);
    expect(spec.containers[0].securityContext.seLinuxOptions).to.deep.equal({ type: 'spc_t' });
    expect(binding.roleRef.name).to.equal('system:openshift:scc:privileged');
    for (const { metadata } of [account, binding])
      expect(metadata.namespace).to.equal('pressroom-seccomp');
    expect(binding.subjects[0]).to.include({
      name: 'room-seccomp',
      namespace: 'pressroom-seccomp',
    });
  });

  it('allows the DNS pods of OpenShift in every NetworkPolicy with DNS', async () => {
    const policies = (await helm.template(OPENSHIFT)).filter(
      ({ kind, spec }) =>
        kind === 'NetworkPolicy' &&
        spec.egress.some(({ ports }: KubeObject) =>
          ports.some(({ port }: KubeObject) => port === 53),
        ),
    );
    expect(policies).to.have.length(4);
    for (const { metadata, spec } of policies) {
      const [dns] = spec.egress;
      expect(dns.to.at(-1), metadata.name).to.deep.equal({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'openshift-dns' } },
      });
      expect(dns.ports, metadata.name).to.deep.include({ protocol: 'UDP', port: 5353 });
    }
  });
});
