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
const CLUSTER_SCOPED = ['ClusterRole', 'ClusterRoleBinding', 'Namespace'];
const hookOf = (object: KubeObject): string => object.metadata.annotations?.['helm.sh/hook'] ?? '';

describe('the chart, rendered', function () {
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

  it('gives every object a name of its own, its namespace and its labels', () => {
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

  it('gives every object the labels and annotations that all shall have', () => {
    for (const set of ['everything that brings objects of its own', 'other accounts and labels'])
      for (const { kind, metadata } of rendered[set]!) {
        expect(metadata.labels, `${set}: ${kind} ${metadata.name}`).to.include({ team: 'paper' });
        expect(metadata.annotations, `${set}: ${kind} ${metadata.name}`).to.include({
          owner: 'paper',
        });
      }
  });

  it('mounts a token of Kubernetes only where Kubernetes is spoken to', () => {
    for (const objects of Object.values(rendered))
      for (const object of objects) {
        const pod = podOf(object);
        if (!pod) continue;
        const speaks =
          object.metadata.labels['app.kubernetes.io/component'] === 'controller' ||
          object.kind === 'Job';
        expect(pod.spec.automountServiceAccountToken, object.metadata.name).to.equal(speaks);
        expect(pod.spec.enableServiceLinks, object.metadata.name).to.equal(false);
      }
  });

  it('gives every container a read-only file system and bounds of memory', () => {
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

  it('gives the controller no right to Secrets, and to nothing by a star', () => {
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

  it('gives nobody the right to delete or replace anything but the Lease', () => {
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

  it('keeps the controller in the namespace of the release unless told otherwise', () => {
    const rights = (objects: KubeObject[]) =>
      objects.filter(
        ({ kind, metadata }) =>
          /RoleBinding$/.test(kind) &&
          metadata.labels['app.kubernetes.io/component'] === 'controller',
      );
    expect(
      rights(rendered['the defaults']!).map(
        ({ kind, metadata }) => `${kind} ${metadata.namespace}`,
      ),
    ).to.deep.equal([`RoleBinding ${NAMESPACE}`, `RoleBinding ${NAMESPACE}`]);
    expect(
      rights(rendered['a controller for more namespaces']!).map(
        ({ metadata }) => metadata.namespace,
      ),
    ).to.have.members([NAMESPACE, NAMESPACE, 'other']);
    expect(
      rights(rendered['a controller for the whole cluster']!).map(({ kind }) => kind),
    ).to.have.members(['ClusterRoleBinding', 'RoleBinding']);
  });

  it('makes Secrets by a Job with the right to make them, and to look at these and add to them alone', () => {
    const made = (set: string) => {
      const job = rendered[set]!.find(
        ({ kind, metadata }) => kind === 'Job' && metadata.name.endsWith('make-secrets'),
      );
      return job?.spec.template.spec.containers.map(({ command }: KubeObject) => command.slice(3));
    };
    const ours = [
      '--secret',
      'room-secrets',
      '--keys',
      'pepper,pool-secret',
      '--added',
      'dashboard-secret',
    ];
    expect(made('the defaults')).to.deep.equal([ours]);
    expect(made('a trial with a bundled MongoDB')).to.deep.equal([
      ours,
      ['--secret', 'room-mongodb', '--keys', 'password,keyfile'],
    ]);
    expect(made('Secrets of the operator')).to.equal(undefined);
    const { rules } = one(rendered['the defaults']!, 'Role', 'room-make-secrets');
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

  it('renders no secret of its own making', () => {
    for (const [name, objects] of Object.entries(rendered)) {
      const secrets = objects.filter(({ kind }) => kind === 'Secret');
      expect(
        secrets.map(({ metadata }) => metadata.name),
        name,
      ).to.deep.equal(name === 'an address of MongoDB as a value' ? ['room-mongodb'] : []);
    }
  });

  it('runs its Jobs, with what they need, before anything of the release is there', () => {
    const setup = rendered['a trial with a bundled MongoDB']!.filter(
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

  it('names images by registry, tag and digest', () => {
    const imagesOf = (objects: KubeObject[]) =>
      Object.fromEntries(
        ['api', 'controller'].map(part => [
          part,
          one(objects, 'Deployment', `room-${part}`).spec.template.spec.containers[0].image,
        ]),
      );
    expect(imagesOf(rendered['the defaults']!)).to.deep.equal({
      api: 'pressroom-api:0.1.0',
      controller: 'pressroom-controller:0.1.0',
    });
    const own = rendered['images by digest from a registry of the operator']!;
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
    const above = { global: { imageRegistry: 'registry.example' } };
    return helm
      .template(above)
      .then(objects =>
        expect(imagesOf(objects).api).to.equal('registry.example/pressroom-api:0.1.0'),
      );
  });

  it('drains by the rules: no pod less while it rolls, and longer than the API may take', () => {
    const { spec } = one(rendered['the defaults']!, 'Deployment', 'room-api');
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

  it('drains in less time than its pods are given', async () => {
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

  it('rolls the API when the address of MongoDB among the values changes', async () => {
    const mark = async (uri: string) =>
      one(await helm.template({ mongodb: { uri } }), 'Deployment', 'room-api').spec.template
        .metadata.annotations['pressroom.dev/mongodb-uri'];
    const [first, second] = [
      await mark('mongodb://a.example/x'),
      await mark('mongodb://b.example/x'),
    ];
    expect(first).to.match(/^[0-9a-f]{16}$/);
    expect(second).not.to.equal(first);
  });

  it('leaves the number of API pods to its autoscaler where there is one', () => {
    expect(one(rendered['the defaults']!, 'Deployment', 'room-api').spec.replicas).to.equal(2);
    const scaled = rendered['everything that brings objects of its own']!;
    expect(one(scaled, 'Deployment', 'room-api').spec).not.to.have.property('replicas');
    expect(one(scaled, 'HorizontalPodAutoscaler').spec.behavior).to.deep.equal({
      scaleDown: { stabilizationWindowSeconds: 60 },
    });
  });

  it('lets an Ingress pass large bodies and long renders', () => {
    const ingress = one(rendered['everything that brings objects of its own']!, 'Ingress');
    expect(ingress.metadata.annotations).to.include({
      'nginx.ingress.kubernetes.io/proxy-body-size': '11m',
      'nginx.ingress.kubernetes.io/proxy-read-timeout': '300',
    });
    expect(ingress.spec.rules.map(({ host }: KubeObject) => host)).to.deep.equal([
      'pdf.example',
      'www.pdf.example',
    ]);
  });

  it('places pods as told, and counts its own where a constraint does not say whom', () => {
    const { spec } = one(rendered['pods placed with care']!, 'Deployment', 'room-api').spec
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
    const { template } = one(rendered['pods placed with care']!, 'BrowserPool').spec;
    expect(template).to.deep.include({
      runtimeClassName: 'gvisor',
      serviceAccountName: 'printer',
      labels: { team: 'paper' },
      nodeSelector: { disk: 'fast' },
    });
    expect(template.topologySpreadConstraints).to.have.length(2);
  });

  it('asks for what pod security demands whatever the security context says', async () => {
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

  it('has every board in a ConfigMap, as its file is', () => {
    const objects = rendered['everything that brings objects of its own']!;
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

  it('puts the profile for Chrome on nodes from a namespace of its own', () => {
    const objects = rendered['everything that brings objects of its own']!;
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

  it('leaves that namespace to who makes it, with the Secrets of a private registry', () => {
    const objects = rendered['the installer in a namespace of the operator']!;
    expect(objects.filter(({ kind }) => kind === 'Namespace')).to.deep.equal([]);
    const { metadata, spec } = one(objects, 'DaemonSet');
    expect(metadata.namespace).to.equal('pressroom-seccomp');
    expect(spec.template.spec.imagePullSecrets).to.deep.equal([{ name: 'pull' }]);
  });
});
