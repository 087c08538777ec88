// @proves workers-without-controller
import { expect } from 'chai';
import { findHelm, type Helm, type KubeObject, one, type Values } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { childrenOfPool } from './chart/workers.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const PROMETHEUS = { url: 'http://prometheus.monitoring:9090' };
const MANAGED_BY = 'app.kubernetes.io/managed-by';

/** The part of an object that both forms share: all but owners, size and who manages it. */
function shared({ apiVersion, kind, metadata, spec }: KubeObject): KubeObject {
  const { replicas: _, ...copy } = structuredClone(spec);
  delete copy.template?.metadata.labels[MANAGED_BY];
  return { apiVersion, kind, name: metadata.name, namespace: metadata.namespace, spec: copy };
}

const byKind = (objects: KubeObject[]) =>
  Object.fromEntries(objects.map(object => [object.kind, shared(object)]));

const ofWorkers = (objects: KubeObject[]) =>
  objects.filter(
    ({ kind, metadata }) =>
      ['Deployment', 'Service', 'PodDisruptionBudget'].includes(kind) &&
      metadata.labels['app.kubernetes.io/component'] === 'worker',
  );

describe('chart without the controller', function () {
  this.timeout(120_000);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  const withMode = (mode: string, values: Values = {}) =>
    helm.template({ ...values, autoscaling: { mode } });

  const ODD: Record<string, Values> = {
    'no spread constraints by an empty list': { pool: { topologySpreadConstraints: [] } },
    'a pod anti-affinity of its own': {
      pool: {
        affinity: { podAntiAffinity: {} },
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
        ],
      },
    },
    'an ephemeral storage limit, a small grace period and an absolute budget': {
      pool: {
        resources: { limits: { 'ephemeral-storage': '9Gi' } },
        terminationGracePeriodSeconds: 10,
        maxUnavailable: 1,
        slotsPerPod: 64,
        chromePerAccount: true,
        scratchSizeLimit: '5Gi',
      },
    },
    'security contexts of its own': {
      pool: {
        podSecurityContext: {
          fsGroup: 1,
          seccompProfile: { type: 'Localhost', localhostProfile: 'a' },
        },
        securityContext: {
          runAsNonRoot: false,
          seccompProfile: { type: 'Localhost', localhostProfile: 'b' },
          capabilities: { add: ['ALL'] },
          seLinuxOptions: { type: 'x' },
        },
      },
    },
    'another profile': {
      pool: { chromeSandbox: { localhostProfile: 'other/chrome.json' } },
      scrapeAnnotations: true,
    },
  };

  for (const [name, values] of Object.entries({ ...MATRIX, ...ODD })) {
    if (values.autoscaling || (values.pool as { enabled?: boolean } | undefined)?.enabled === false)
      continue;
    it(`has the workers that the controller creates for the same values: ${name}`, async () => {
      const controlled = byKind(childrenOfPool(await helm.template(values)));
      expect(controlled).to.have.all.keys('Deployment', 'Service', 'PodDisruptionBudget');
      // The deprecated alias, which the controller sets only to be able to remove it.
      delete controlled['Deployment']!.spec.template.spec.serviceAccount;
      expect(byKind(ofWorkers(await withMode('none', values)))).to.deep.equal(controlled);
    });
  }

  it('has no BrowserPool, controller, cluster-wide role and rules about the controller', async () => {
    const values = { ...MATRIX['all optional objects'], prometheus: PROMETHEUS };
    for (const mode of ['hpa', 'keda', 'none']) {
      const objects = await withMode(mode, values);
      const kinds = objects.map(({ kind }) => kind);
      expect(
        kinds.filter(kind => /^(BrowserPool|ClusterRole|Validating)/.test(kind)),
      ).to.deep.equal([]);
      const components = objects.map(
        ({ metadata }) => metadata.labels['app.kubernetes.io/component'],
      );
      expect(components).not.to.include('controller');
      const groups = one(objects, 'PrometheusRule').spec.groups;
      expect(groups.map(({ name }: KubeObject) => name)).not.to.include('pressroom-controller');
    }
  });

  it('has a fixed number of workers with mode none, and leaves it to the autoscaler else', async () => {
    const sizeOf = async (mode: string, pool: Values) =>
      one(await withMode(mode, { pool, prometheus: PROMETHEUS }), 'Deployment', 'room-workers').spec
        .replicas;
    expect(await sizeOf('none', { replicas: 0 })).to.equal(0);
    expect(await sizeOf('none', { replicas: 7 })).to.equal(7);
    expect(await sizeOf('none', { scaling: { minReplicas: 3 } })).to.equal(3);
    expect(await sizeOf('hpa', {})).to.equal(undefined);
    expect(await sizeOf('keda', {})).to.equal(undefined);
  });

  it('scales by an HPA on busy slots and queued renders per pod', async () => {
    const scaling = { minReplicas: 0, maxReplicas: 20, targetUtilizationPercent: 75 };
    const objects = await withMode('hpa', { pool: { slotsPerPod: 3, scaling } });
    const { minReplicas, maxReplicas, scaleTargetRef, metrics } = one(
      objects,
      'HorizontalPodAutoscaler',
    ).spec;
    expect({ minReplicas, maxReplicas }).to.deep.equal({ minReplicas: 1, maxReplicas: 20 });
    expect(scaleTargetRef.name).to.equal('room-workers');
    expect(metrics[0].external).to.deep.equal({
      metric: { name: 'pressroom_pool_load', selector: { matchLabels: { pool: 'room' } } },
      target: { type: 'AverageValue', averageValue: '2250m' },
    });
  });

  it('scales by a ScaledObject on Prometheus, with the token if it is set', async () => {
    const plain = await withMode('keda', { prometheus: PROMETHEUS });
    const { triggers, ...spec } = one(plain, 'ScaledObject').spec;
    expect(spec).to.deep.equal({
      scaleTargetRef: { name: 'room-workers' },
      minReplicaCount: 1,
      maxReplicaCount: 10,
    });
    expect(triggers[0].metadata).to.deep.equal({
      serverAddress: PROMETHEUS.url,
      query:
        'sum(max by (__name__, pod) ({__name__=~"pressroom_queue_depth|pressroom_slots",state=~"claimed|",namespace="press",pool="room"})) + (max(pressroom_async_backlog{namespace="press",pool="room"}) or vector(0))',
      threshold: '1.40',
      ignoreNullValues: 'false',
    });
    const prometheus = { ...PROMETHEUS, token: { existingSecret: 'mine', key: 't' } };
    const secured = await withMode('keda', { prometheus });
    const { metadata, spec: authentication } = one(secured, 'TriggerAuthentication');
    const [trigger] = one(secured, 'ScaledObject').spec.triggers;
    expect(trigger.metadata.authModes).to.equal('bearer');
    expect(trigger.authenticationRef.name).to.equal(metadata.name);
    expect(authentication.secretTargetRef).to.deep.equal([
      { parameter: 'bearerToken', name: 'mine', key: 't' },
    ]);
  });

  const REFUSED: [string, string, Values, string][] = [
    [
      'a fixed size under an HPA',
      'hpa',
      { pool: { replicas: 3 } },
      'pool.replicas is a fixed size',
    ],
    ['a paused pool', 'none', { pool: { paused: true } }, 'pool.paused requires'],
    ['KEDA without Prometheus', 'keda', { prometheus: { url: '' } }, 'prometheus.url must be set'],
  ];
  for (const [what, mode, values, message] of REFUSED)
    it(`refuses ${what}`, async () => {
      const error = await withMode(mode, values).catch((error: Error) => error);
      expect(String(error)).to.include(message);
    });
});
