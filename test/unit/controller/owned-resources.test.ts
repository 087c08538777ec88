import type { V1Deployment, V1PodDisruptionBudget, V1Service } from '@kubernetes/client-node';
import { expect } from 'chai';
import { ownedResourcesOf } from '../../../controller/owned-resources.ts';
import type { BrowserPoolSpecInput } from '../../../crds/browser-pool.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { browserPool, POOL_SPEC } from '../../support/pools.ts';

function build(spec: Partial<BrowserPoolSpecInput> = {}, pods = 3) {
  const resources = ownedResourcesOf(browserPool({ spec }), pods).map(
    ({ object }) => object as unknown,
  );
  const [service, budget, deployment] = resources as [
    V1Service,
    V1PodDisruptionBudget,
    V1Deployment,
  ];
  const podSpec = deployment.spec!.template.spec!;
  return { service, budget, deployment, podSpec, container: podSpec.containers[0]! };
}
const withTemplate = (template: Partial<BrowserPoolSpecInput['template']>) => ({
  template: { ...POOL_SPEC.template, ...template },
});

describe('owned resources of a pool', () => {
  it('are a Deployment, a headless Service and a PodDisruptionBudget that the pool owns', () => {
    const { service, budget, deployment } = build();
    for (const { metadata } of [service, budget, deployment]) {
      expect(metadata).to.include({ name: 'main-workers', namespace: 'press' });
      expect(metadata!.ownerReferences).to.deep.equal([
        {
          apiVersion: 'pressroom.dev/v1alpha1',
          kind: 'BrowserPool',
          name: 'main',
          uid: 'uid-of-main',
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
    expect(service.spec!.clusterIP).to.equal('None');
    expect(service.spec!.ports!.map(({ port }) => port)).to.deep.equal([9222, 9090]);
    expect(budget.spec!.maxUnavailable).to.equal('25%');
    expect(deployment.spec!.replicas).to.equal(3);
  });

  it('select only the pods of the pool, whatever labels the template has', () => {
    const { service, budget, deployment } = build(
      withTemplate({ labels: { team: 'billing', 'pressroom.dev/pool': 'another' } }),
    );
    const { labels } = deployment.spec!.template.metadata!;
    const selector = { 'pressroom.dev/pool': 'main', 'app.kubernetes.io/component': 'worker' };
    expect(labels).to.include({ ...selector, team: 'billing' });
    expect(service.spec!.selector).to.deep.equal(selector);
    expect(budget.spec!.selector!.matchLabels).to.deep.equal(selector);
    expect(deployment.spec!.selector.matchLabels).to.deep.equal(selector);
  });

  it('meet the Pod Security Standard `restricted`', () => {
    const { podSpec, container } = build();
    expect(podSpec.securityContext).to.deep.include({
      runAsNonRoot: true,
      seccompProfile: { type: 'Localhost', localhostProfile: 'pressroom/chrome.json' },
    });
    expect(container.securityContext).to.deep.equal({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(podSpec).to.include({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  it('have the users and groups of the pool or, if its security context is empty, none', () => {
    const of = (podSecurityContext?: Record<string, unknown>) => {
      const { seccompProfile, ...context } = build(
        withTemplate({ ...(podSecurityContext && { podSecurityContext }) }),
      ).podSpec.securityContext!;
      expect(seccompProfile!.type).to.equal('Localhost');
      return context;
    };
    const defaults = { runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 };
    expect(of()).to.deep.equal({ ...defaults, runAsNonRoot: true });
    expect(of({})).to.deep.equal({ runAsNonRoot: true });
    const own = { runAsUser: 20_000, fsGroupChangePolicy: 'OnRootMismatch' };
    const weak = { runAsNonRoot: false, seccompProfile: { type: 'Unconfined' } };
    expect(of({ ...own, ...weak })).to.deep.equal({ ...own, runAsNonRoot: true });
  });

  it('have no container security context that is weaker than `restricted`', () => {
    const seLinuxOptions = { level: 's0:c26,c5' };
    const weak = {
      runAsNonRoot: false,
      seccompProfile: { type: 'Unconfined' },
      allowPrivilegeEscalation: true,
      readOnlyRootFilesystem: false,
      capabilities: { add: ['SYS_ADMIN'] },
    };
    const { container } = build(withTemplate({ securityContext: { seLinuxOptions, ...weak } }));
    expect(container.securityContext).to.deep.equal({
      seLinuxOptions,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('set the seccomp profile and the Chrome sandbox variable by sandbox mode', () => {
    const of = (chromeSandbox: NonNullable<BrowserPoolSpecInput['template']['chromeSandbox']>) => {
      const { podSpec, container } = build(withTemplate({ chromeSandbox }));
      return [
        podSpec.securityContext!.seccompProfile,
        container.env!.find(({ name }) => name === 'PRESSROOM_CHROME_SANDBOX')!.value,
      ];
    };
    expect(of({ localhostProfile: 'mine/chrome.json' })).to.deep.equal([
      { type: 'Localhost', localhostProfile: 'mine/chrome.json' },
      'on',
    ]);
    expect(of({ mode: 'Unconfined' })).to.deep.equal([{ type: 'Unconfined' }, 'on']);
    expect(of({ mode: 'Off' })).to.deep.equal([{ type: 'RuntimeDefault' }, 'off']);
  });

  it('request ephemeral storage for the /tmp volume unless the pool sets it', () => {
    const resourcesOf = (template: Partial<BrowserPoolSpecInput['template']>) =>
      build(withTemplate(template)).container.resources;
    expect(resourcesOf({})?.requests).to.include({ 'ephemeral-storage': '1024Mi' });
    expect(
      resourcesOf({ scratchSizeLimit: '3Gi', resources: { requests: { cpu: '1' } } }),
    ).to.deep.equal({
      requests: { cpu: '1', 'ephemeral-storage': '3Gi' },
    });
    for (const resources of [
      { requests: { 'ephemeral-storage': '0' } },
      { limits: { 'ephemeral-storage': '2Gi' } },
    ])
      expect(resourcesOf({ resources })).to.deep.equal(resources);
  });

  it('set environment variables that the worker accepts', () => {
    const { container } = build({
      slotsPerPod: 3,
      ...withTemplate({
        terminationGracePeriodSeconds: 60,
        env: [{ name: 'PRESSROOM_RENDER_MEMORY', value: '2GiB' }],
      }),
    });
    const env = Object.fromEntries(
      container.env!.map(({ name, value }) => [name, value ?? 'a secret of sixteen']),
    );
    const { pool, capacity, limits } = readWorkerConfig(env);
    expect({ pool, capacity, maxBytes: limits.maxBytes }).to.deep.equal({
      pool: 'main',
      capacity: 3,
      maxBytes: 2 * 2 ** 30,
    });
    expect(env.PRESSROOM_DRAIN_TIMEOUT).to.equal('55s');
    expect(
      container.env!.find(({ name }) => name === 'PRESSROOM_POOL_SECRET')!.valueFrom,
    ).to.deep.equal({
      secretKeyRef: { name: 'pressroom-secrets', key: 'pool-secret' },
    });
  });

  it('mount the pool secret as a file instead of a variable if the pool says so', () => {
    const { container, podSpec } = build({ poolSecret: { name: 'mine', mountAsFile: true } });
    const names = container.env!.map(({ name }) => name);
    expect(names).to.include('PRESSROOM_POOL_SECRET_FILE').and.not.include('PRESSROOM_POOL_SECRET');
    const file = container.env!.find(({ name }) => name === 'PRESSROOM_POOL_SECRET_FILE')!.value!;
    const mount = container.volumeMounts!.find(({ mountPath }) =>
      file.startsWith(`${mountPath}/`),
    )!;
    expect(mount.readOnly).to.equal(true);
    expect(podSpec.volumes!.find(({ name }) => name === mount.name)!.secret).to.deep.equal({
      secretName: 'mine',
      items: [{ key: 'pool-secret', path: file.slice(mount.mountPath.length + 1) }],
    });
  });

  it('spread pods across nodes unless the pool sets its own constraints', () => {
    const matchLabels = { 'pressroom.dev/pool': 'main', 'app.kubernetes.io/component': 'worker' };
    const zone = {
      maxSkew: 2,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'DoNotSchedule',
    };
    expect(build().podSpec.topologySpreadConstraints).to.deep.equal([
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels },
      },
    ]);
    expect(
      build(withTemplate({ topologySpreadConstraints: [zone] })).podSpec.topologySpreadConstraints,
    ).to.deep.equal([{ labelSelector: { matchLabels }, ...zone }]);
  });

  it('prefer nodes without a pod of the pool, unless anti-affinity or spreading is overridden', () => {
    const matchLabels = { 'pressroom.dev/pool': 'main', 'app.kubernetes.io/component': 'worker' };
    const podAffinityTerm = {
      topologyKey: 'kubernetes.io/hostname',
      labelSelector: { matchLabels },
    };
    const podAntiAffinity = {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }],
    };
    const affinityOf = (template: Parameters<typeof withTemplate>[0]) =>
      build(withTemplate(template)).podSpec.affinity;
    expect(affinityOf({})).to.deep.equal({ podAntiAffinity });
    expect(affinityOf({ affinity: { nodeAffinity: {} } })).to.deep.equal({
      podAntiAffinity,
      nodeAffinity: {},
    });
    expect(affinityOf({ affinity: { podAntiAffinity: {} } })).to.deep.equal({
      podAntiAffinity: {},
    });
    expect(affinityOf({ topologySpreadConstraints: [] })).to.equal(undefined);
  });

  it('limit /tmp by the number of slots unless the pool sets a limit', () => {
    const limitOf = (spec: Partial<BrowserPoolSpecInput>) =>
      build(spec).podSpec.volumes![0]!.emptyDir!.sizeLimit;
    expect([limitOf({}), limitOf({ slotsPerPod: 8 })]).to.deep.equal(['1024Mi', '2560Mi']);
    expect(limitOf({ slotsPerPod: 8, ...withTemplate({ scratchSizeLimit: '3Gi' }) })).to.equal(
      '3Gi',
    );
  });

  it('include the pod settings of the pool', () => {
    const given = {
      imagePullPolicy: 'Always',
      resources: { requests: { cpu: '1', 'ephemeral-storage': '2Gi' } },
      nodeSelector: { disk: 'fast' },
      tolerations: [{ key: 'pages', operator: 'Exists' }],
      priorityClassName: 'high',
      volumes: [{ name: 'tls', secret: { secretName: 'tls' } }],
      volumeMounts: [{ name: 'tls', mountPath: '/tls' }],
      annotations: { note: 'x' },
    } as const;
    const { podSpec, container, deployment } = build(withTemplate(structuredClone(given) as never));
    expect(podSpec).to.deep.include({
      nodeSelector: given.nodeSelector,
      tolerations: given.tolerations,
      priorityClassName: 'high',
    });
    expect(container).to.deep.include({ imagePullPolicy: 'Always', resources: given.resources });
    expect(podSpec.volumes!.map(({ name }) => name)).to.deep.equal(['tmp', 'tls']);
    expect(container.volumeMounts!.map(({ mountPath }) => mountPath)).to.deep.equal([
      '/tmp',
      '/tls',
    ]);
    expect(deployment.spec!.template.metadata!.annotations).to.include({ note: 'x' });
  });

  it('include additional containers after the worker, and the name resolution of the pool', () => {
    const given = {
      initContainers: [{ name: 'wait', image: 'wait' }],
      containers: [{ name: 'sidecar', image: 'sidecar' }],
      dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
      hostAliases: [{ ip: '10.0.0.1', hostnames: ['wiki.corp'] }],
      lifecycle: { preStop: { sleep: { seconds: 5 } } },
    };
    const { podSpec, container } = build(withTemplate(structuredClone(given)));
    const { lifecycle, containers, ...pod } = given;
    expect(podSpec).to.deep.include(pod);
    expect(podSpec.containers.map(({ name }) => name)).to.deep.equal(['worker', 'sidecar']);
    expect(podSpec.containers.slice(1)).to.deep.equal(containers);
    expect(container.lifecycle).to.deep.equal(lifecycle);
    expect(build().podSpec).not.to.have.any.keys(...Object.keys(pod));
  });

  it('replace fields of the default probes by those of the pool', () => {
    const { container } = build(
      withTemplate({
        startupProbe: { failureThreshold: 300 },
        livenessProbe: { exec: { command: ['true'] } },
        readinessProbe: { httpGet: { path: '/mine', port: 80 } },
      }),
    );
    expect(container.startupProbe).to.deep.equal({
      httpGet: { path: '/livez', port: 'operations' },
      periodSeconds: 2,
      failureThreshold: 300,
    });
    expect(container.livenessProbe).to.deep.equal({
      exec: { command: ['true'] },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 6,
    });
    expect(container.readinessProbe!.httpGet).to.deep.equal({ path: '/mine', port: 80 });
  });

  it('ignore the fields of a newer CRD, so that an older controller reads its pools', () => {
    const newer = withTemplate({ fieldOfANewerVersion: [{ name: 'x' }] } as never);
    expect(build(newer)).to.deep.equal(build());
  });
});
