import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  CHART,
  findHelm,
  type Helm,
  type KubeObject,
  LEAST,
  NAMESPACE,
  one,
  podOf,
  RELEASE,
  withValues,
} from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const CLUSTER_SCOPED = [
  'ClusterRole',
  'ClusterRoleBinding',
  'Namespace',
  'SecurityContextConstraints',
];
const hookOf = (object: KubeObject): string => object.metadata.annotations?.['helm.sh/hook'] ?? '';

describe('rendered chart', function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;
  const rendered: Record<string, KubeObject[]> = {};

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
    for (const [name, values] of Object.entries(MATRIX))
      rendered[name] = await helm.template(values);
  });

  it('passes helm lint --strict with every set of values', async () => {
    for (const values of Object.values(MATRIX))
      await withValues({ ...LEAST, ...values }, file =>
        helm(['lint', CHART, '--strict', '--quiet', '--values', file]),
      );
  });

  it('has unique names, namespaces and labels', () => {
    for (const [name, objects] of Object.entries(rendered)) {
      const names = objects.map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
      );
      expect(new Set(names).size, `${name}: ${names.join(', ')}`).to.equal(names.length);
      for (const { kind, metadata } of objects) {
        if (!CLUSTER_SCOPED.includes(kind))
          expect(metadata.namespace, `${name}: ${kind} ${metadata.name}`).to.be.a('string');
        expect(metadata.labels, `${name}: ${kind} ${metadata.name}`).to.include({
          'app.kubernetes.io/name': 'pressroom',
          'app.kubernetes.io/instance': RELEASE,
        });
      }
    }
  });

  it('adds common labels and annotations to every object', () => {
    for (const set of ['all optional objects', 'custom service accounts and labels'])
      for (const { kind, metadata } of rendered[set]!) {
        expect(metadata.labels, `${set}: ${kind} ${metadata.name}`).to.include({ team: 'paper' });
        expect(metadata.annotations, `${set}: ${kind} ${metadata.name}`).to.include({
          owner: 'paper',
        });
      }
  });

  it('mounts service account tokens only in the controller and the Jobs', () => {
    for (const objects of Object.values(rendered))
      for (const object of objects) {
        const pod = podOf(object);
        if (!pod) continue;
        const usesApi =
          object.metadata.labels['app.kubernetes.io/component'] === 'controller' ||
          object.kind === 'Job';
        expect(pod.spec.automountServiceAccountToken, object.metadata.name).to.equal(usesApi);
        expect(pod.spec.enableServiceLinks, object.metadata.name).to.equal(false);
      }
  });

  it('sets a read-only root file system and a memory limit for every container', () => {
    for (const objects of Object.values(rendered))
      for (const object of objects)
        for (const container of podOf(object)?.spec.containers ?? []) {
          expect(container.securityContext.readOnlyRootFilesystem, container.name).to.equal(true);
          expect(container.resources.limits.memory, container.name).to.be.a('string');
          expect(container.volumeMounts ?? [], container.name).to.satisfy(
            (mounts: KubeObject[]) =>
              object.kind === 'Pod' || mounts.some(({ mountPath }) => mountPath === '/tmp'),
          );
        }
  });

  it('grants the controller no access to Secrets and no wildcard permissions', () => {
    for (const objects of Object.values(rendered)) {
      const roles = objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole');
      for (const role of roles)
        for (const rule of role.rules) {
          expect(
            [...rule.apiGroups, ...rule.resources, ...rule.verbs],
            role.metadata.name,
          ).not.to.include('*');
          if (rule.resources.includes('secrets'))
            expect(
              role.metadata.labels['app.kubernetes.io/component'],
              role.metadata.name,
            ).to.equal('setup');
        }
    }
  });

  it('grants no delete permission, and update only for the Lease', () => {
    for (const objects of Object.values(rendered))
      for (const role of objects.filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole'))
        for (const { resources, verbs } of role.rules) {
          expect(verbs, role.metadata.name).not.to.include('delete');
          if (verbs.includes('update'))
            expect(['leases', 'browserpools/finalizers'], role.metadata.name).to.include(
              resources[0],
            );
        }
  });

  it('restricts the controller to the namespace of the release by default', () => {
    const bindings = (objects: KubeObject[]) =>
      objects.filter(
        ({ kind, metadata }) =>
          /RoleBinding$/.test(kind) &&
          metadata.labels['app.kubernetes.io/component'] === 'controller',
      );
    expect(
      bindings(rendered['the default values']!).map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace}`,
      ),
    ).to.deep.equal([`RoleBinding ${NAMESPACE}`, `RoleBinding ${NAMESPACE}`]);
    expect(
      bindings(rendered['a controller for several namespaces']!).map(
        ({ metadata }) => metadata.namespace,
      ),
    ).to.have.members([NAMESPACE, NAMESPACE, 'other']);
    expect(
      bindings(rendered['a cluster-wide controller']!).map(({ kind }) => kind),
    ).to.have.members(['ClusterRoleBinding', 'RoleBinding']);
  });

  it('generates Secrets with a Job that can only create, read and patch them', () => {
    const commandsOf = (set: string) => {
      const job = rendered[set]!.find(
        ({ kind, metadata }) => kind === 'Job' && metadata.name.endsWith('make-secrets'),
      );
      return job?.spec.template.spec.containers.map(({ command }: KubeObject) => command.slice(3));
    };
    const own = [
      '--secret',
      'room-secrets',
      '--keys',
      'pepper,pool-secret',
      '--added',
      'dashboard-secret',
    ];
    expect(commandsOf('the default values')).to.deep.equal([own]);
    expect(commandsOf('a bundled MongoDB')).to.deep.equal([
      own,
      ['--secret', 'room-mongodb', '--keys', 'password,keyfile'],
    ]);
    expect(commandsOf('existing Secrets')).to.equal(undefined);
    const { rules } = one(rendered['the default values']!, 'Role', 'room-make-secrets');
    expect(rules).to.deep.equal([
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['room-secrets'], verbs: ['get'] },
      {
        apiGroups: [''],
        resources: ['secrets'],
        resourceNames: ['room-secrets'],
        verbs: ['patch'],
      },
    ]);
  });

  it('renders no generated secrets', () => {
    for (const [name, objects] of Object.entries(rendered)) {
      const secrets = objects.filter(({ kind }) => kind === 'Secret');
      expect(
        secrets.map(({ metadata }) => metadata.name),
        name,
      ).to.deep.equal(name === 'a MongoDB connection string as a value' ? ['room-mongodb'] : []);
    }
  });

  it('runs its Jobs with their permissions before the release is installed', () => {
    const setup = rendered['a bundled MongoDB']!.filter(
      ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'setup',
    );
    expect(setup.map(({ kind }) => kind)).to.include.members([
      'Job',
      'ServiceAccount',
      'Role',
      'RoleBinding',
      'ClusterRole',
      'ClusterRoleBinding',
    ]);
    for (const object of setup) {
      expect(hookOf(object), object.metadata.name).to.equal('pre-install,pre-upgrade');
      const weight = Number(object.metadata.annotations['helm.sh/hook-weight']);
      expect(weight < -1, object.metadata.name).to.equal(object.kind !== 'Job');
    }
  });

  it('builds image references from registry, tag and digest', () => {
    const imagesOf = (objects: KubeObject[]) =>
      Object.fromEntries(
        ['api', 'controller'].map(part => [
          part,
          one(objects, 'Deployment', `room-${part}`).spec.template.spec.containers[0].image,
        ]),
      );
    expect(imagesOf(rendered['the default values']!)).to.deep.equal({
      api: 'pressroom-api:0.1.0',
      controller: 'pressroom-controller:0.1.0',
    });
    const own = rendered['images by digest from a private registry']!;
    expect(imagesOf(own)).to.deep.equal({
      api: `registry.example/team/pressroom-api@sha256:${'a'.repeat(64)}`,
      controller: 'registry.example/team/pressroom-controller:1.2.3',
    });
    const { template } = one(own, 'BrowserPool').spec;
    expect(template).to.include({
      image: 'registry.example/team/pressroom-worker:1.2.4',
      imagePullPolicy: 'Always',
    });
    expect(template.imagePullSecrets).to.deep.equal([{ name: 'pull' }]);
    const above = {
      image: { registry: 'registry.example/team' },
      global: { imageRegistry: 'mirror.example' },
    };
    return helm
      .template(above)
      .then(objects =>
        expect(imagesOf(objects).api).to.equal('mirror.example/pressroom-api:0.1.0'),
      );
  });

  it('rolls out the API without losing pods, with enough time to drain', () => {
    const { spec } = one(rendered['the default values']!, 'Deployment', 'room-api');
    expect(spec.strategy.rollingUpdate).to.deep.equal({ maxUnavailable: 0, maxSurge: 1 });
    expect(spec.template.spec.terminationGracePeriodSeconds).to.be.greaterThan(155);
    const { readinessProbe, livenessProbe, startupProbe } = spec.template.spec.containers[0];
    expect(
      [readinessProbe, livenessProbe, startupProbe].map(({ httpGet }) => httpGet),
    ).to.deep.equal([
      { path: '/readyz', port: 'operations' },
      { path: '/livez', port: 'operations' },
      { path: '/livez', port: 'operations' },
    ]);
  });

  it('sets a drain timeout below the grace period', async () => {
    const drains = async (values: Record<string, unknown>, part: string) =>
      one(
        await helm.template(values),
        'Deployment',
        `room-${part}`,
      ).spec.template.spec.containers[0].env.find(
        ({ name }: KubeObject) => name === 'PRESSROOM_DRAIN_TIMEOUT',
      ).value;
    expect(await drains({}, 'api')).to.equal('150s');
    expect(await drains({}, 'controller')).to.equal('20s');
    expect(await drains({ api: { terminationGracePeriodSeconds: 60 } }, 'api')).to.equal('50s');
    expect(await drains({ api: { config: { PRESSROOM_DRAIN_TIMEOUT: '30s' } } }, 'api')).to.equal(
      '30s',
    );
  });

  it('restarts the API when mongodb.uri changes', async () => {
    const hashFor = async (uri: string) =>
      one(await helm.template({ mongodb: { uri } }), 'Deployment', 'room-api').spec.template
        .metadata.annotations['pressroom.dev/mongodb-uri'];
    const [first, second] = [
      await hashFor('mongodb://a.example/x'),
      await hashFor('mongodb://b.example/x'),
    ];
    expect(first).to.match(/^[0-9a-f]{16}$/);
    expect(second).not.to.equal(first);
  });

  it('sets no replicas for the API if autoscaling is enabled', () => {
    expect(one(rendered['the default values']!, 'Deployment', 'room-api').spec.replicas).to.equal(
      2,
    );
    const scaled = rendered['all optional objects']!;
    expect(one(scaled, 'Deployment', 'room-api').spec).not.to.have.property('replicas');
    expect(one(scaled, 'HorizontalPodAutoscaler').spec.behavior).to.deep.equal({
      scaleDown: { stabilizationWindowSeconds: 60 },
    });
  });

  it('applies scheduling values, and adds selectors to spread constraints', () => {
    const { spec } = one(rendered['scheduling constraints']!, 'Deployment', 'room-api').spec
      .template;
    expect(spec).to.deep.include({
      nodeSelector: { disk: 'fast' },
      priorityClassName: 'important',
      tolerations: [{ key: 'only', operator: 'Exists' }],
    });
    expect(
      spec.topologySpreadConstraints.map(
        ({ labelSelector }: KubeObject) => labelSelector.matchLabels,
      ),
    ).to.deep.equal([
      {
        'app.kubernetes.io/name': 'pressroom',
        'app.kubernetes.io/instance': RELEASE,
        'app.kubernetes.io/component': 'api',
      },
      { mine: 'yes' },
    ]);
    const [{ podAffinityTerm }] =
      spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
    expect(podAffinityTerm.topologyKey).to.equal('kubernetes.io/hostname');
    expect(podAffinityTerm.labelSelector.matchLabels).to.include({
      'app.kubernetes.io/component': 'api',
    });
    const { template } = one(rendered['scheduling constraints']!, 'BrowserPool').spec;
    expect(template).to.deep.include({
      runtimeClassName: 'gvisor',
      serviceAccountName: 'printer',
      labels: { team: 'paper' },
      nodeSelector: { disk: 'fast' },
    });
    expect(template.topologySpreadConstraints).to.have.length(2);
  });

  it('meets the Pod Security Standard `restricted` with any podSecurityContext', async () => {
    const objects = await helm.template({
      podSecurityContext: {
        runAsUser: null,
        runAsNonRoot: false,
        seccompProfile: { type: 'Unconfined' },
      },
    });
    const { securityContext } = one(objects, 'Deployment', 'room-api').spec.template.spec;
    expect(securityContext).to.deep.equal({
      runAsGroup: 10_001,
      fsGroup: 10_001,
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('contains every Grafana dashboard in a ConfigMap', () => {
    const objects = rendered['all optional objects']!;
    const boards = readdirSync(join(CHART, 'dashboards')).filter(name => name.endsWith('.json'));
    expect(boards).not.to.deep.equal([]);
    for (const name of boards) {
      const map = one(objects, 'ConfigMap', `room-board-${name.replace('.json', '')}`);
      expect(map.metadata.labels.grafana_dashboard).to.equal('1');
      expect(map.data[name].trim()).to.equal(
        readFileSync(join(CHART, 'dashboards', name), 'utf8').trim(),
      );
    }
  });

  it('installs the seccomp profile from a separate namespace', () => {
    const objects = rendered['all optional objects']!;
    expect(one(objects, 'Namespace').metadata.labels).to.include({
      'pod-security.kubernetes.io/enforce': 'privileged',
    });
    const map = one(objects, 'ConfigMap', 'room-seccomp');
    expect(JSON.parse(map.data['chrome.json'])).to.deep.equal(
      JSON.parse(readFileSync(join(CHART, 'files/seccomp/chrome.json'), 'utf8')),
    );
    const { spec } = one(objects, 'DaemonSet').spec.template;
    expect(spec.volumes.find(({ name }: KubeObject) => name === 'seccomp').hostPath.path).to.equal(
      '/var/lib/kubelet/seccomp',
    );
    expect(spec.containers[0].securityContext.seLinuxOptions).to.deep.equal({ type: 'spc_t' });
  });

  it('does not create the namespace of the seccomp installer if it exists', () => {
    const objects = rendered['the seccomp installer in an existing namespace']!;
    expect(objects.filter(({ kind }) => kind === 'Namespace')).to.deep.equal([]);
    const { metadata, spec } = one(objects, 'DaemonSet');
    expect(metadata.namespace).to.equal('pressroom-seccomp');
    expect(spec.template.spec.imagePullSecrets).to.deep.equal([{ name: 'pull' }]);
  });
});
