// Builds the resources that a pool owns: a Deployment, a headless Service and a
// PodDisruptionBudget. Pure.
import type {
  V1Affinity,
  V1Container,
  V1HostAlias,
  V1Lifecycle,
  V1PodDNSConfig,
  V1PodSecurityContext,
  V1PodSpec,
  V1Probe,
  V1ResourceRequirements,
  V1SeccompProfile,
  V1SecurityContext,
  V1Toleration,
  V1TopologySpreadConstraint,
  V1Volume,
  V1VolumeMount,
} from '@kubernetes/client-node';
import { type BrowserPool, GROUP, KIND, VERSION } from '../crds/browser-pool.ts';
import { FIELD_MANAGER, type Resource, type Written } from './kubernetes/resources.ts';

const PORTS = { gateway: 9222, operations: 9090 } as const;
/** A worker drains for this much less than the grace period, to exit before it is killed. */
const GRACE_MARGIN_S = 5;
const DEFAULT_PROFILE = 'pressroom/chrome.json';
/** A Chrome profile takes 0.3 MB. The rest is for files that Chrome writes for pages. */
const SCRATCH_MIB = { base: 512, slot: 256 } as const;
const USER = 10_001;
const POOL_SECRET_VOLUME = 'pool-secret';
const POOL_SECRET_FOLDER = '/etc/pressroom/pool-secret';
const POOL_SECRET_FILE = 'secret';
const DISK = 'ephemeral-storage';

/**
 * Casts an embedded part of the Kubernetes API. The API server validates it; its error is reported
 * in the Ready condition.
 */
const given = <T>(part: unknown) => part as T;

/** The name of the container in which the worker runs; pods may have others. */
export const WORKER_CONTAINER = 'worker';

export const ownedResourceName = (pool: string) => `${pool}-workers`;

export const POOL_LABEL = `${GROUP}/pool`;
/** A label of every object that the controller creates; the watches select by it. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': FIELD_MANAGER };

const labelsOf = (pool: string) => ({
  'app.kubernetes.io/name': 'pressroom',
  'app.kubernetes.io/component': 'worker',
  'app.kubernetes.io/instance': pool,
  ...MANAGED_BY,
  [POOL_LABEL]: pool,
});
/** The selector of a Deployment is immutable, so these labels must never change. */
const selectorOf = (pool: string) => ({
  [POOL_LABEL]: pool,
  'app.kubernetes.io/component': 'worker',
});

const selectorText = (labels: Record<string, string>): string =>
  Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(',');

/** Selects the pods of a pool. */
export const podSelector = (pool: string): string => selectorText(selectorOf(pool));
/** Selects the objects that the controller creates. */
export const MANAGED_SELECTOR = selectorText(MANAGED_BY);

/** The owned resources, in the order in which they are applied. */
export function ownedResourcesOf(
  pool: BrowserPool,
  pods: number,
): { resource: Resource; object: Written }[] {
  return [
    { resource: 'services', object: service(pool) },
    { resource: 'poddisruptionbudgets', object: disruptionBudget(pool) },
    { resource: 'deployments', object: deployment(pool, pods) },
  ];
}

/** With an owner reference, so that the garbage collector deletes the objects of a deleted pool. */
function metadataOf({ metadata: { name, namespace, uid } }: BrowserPool): Written['metadata'] {
  return {
    name: ownedResourceName(name),
    namespace,
    labels: labelsOf(name),
    ownerReferences: [
      {
        apiVersion: `${GROUP}/${VERSION}`,
        kind: KIND,
        name,
        uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}

/**
 * Headless: its DNS name resolves to all workers. The API connects to each of them, including those
 * that drain.
 */
function service(pool: BrowserPool): Written {
  const ports = Object.entries(PORTS).map(([name, port]) => ({
    name,
    port,
    targetPort: name,
    protocol: 'TCP',
  }));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(pool),
    spec: { clusterIP: 'None', selector: selectorOf(pool.metadata.name), ports },
  } as Written;
}

function disruptionBudget(pool: BrowserPool): Written {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataOf(pool),
    spec: {
      maxUnavailable: pool.spec.maxUnavailable,
      selector: { matchLabels: selectorOf(pool.metadata.name) },
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    },
  } as Written;
}

function deployment(pool: BrowserPool, replicas: number): Written {
  const { name } = pool.metadata;
  const { template } = pool.spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(pool),
    spec: {
      replicas,
      revisionHistoryLimit: 5,
      progressDeadlineSeconds: 600,
      // A new worker must be ready before an old one drains.
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 } },
      selector: { matchLabels: selectorOf(name) },
      template: {
        metadata: {
          labels: { ...template.labels, ...labelsOf(name) },
          annotations: {
            'kubectl.kubernetes.io/default-container': WORKER_CONTAINER,
            ...template.annotations,
          },
        },
        spec: podSpec(pool),
      },
    },
  } as Written;
}

/**
 * The API server copies the name into a deprecated second field, which would keep it when this one
 * is removed: both are set, so that both are removed.
 */
const serviceAccount = ({ serviceAccountName: name }: BrowserPool['spec']['template']) =>
  name && { serviceAccountName: name, serviceAccount: name };

function podSpec(pool: BrowserPool): V1PodSpec {
  const { template } = pool.spec;
  return {
    automountServiceAccountToken: false,
    // Service variables could start with PRESSROOM_ and be read as configuration.
    enableServiceLinks: false,
    terminationGracePeriodSeconds: template.terminationGracePeriodSeconds,
    securityContext: podSecurityContext(pool),
    ...serviceAccount(template),
    ...(template.imagePullSecrets && { imagePullSecrets: template.imagePullSecrets }),
    ...(template.nodeSelector && { nodeSelector: template.nodeSelector }),
    ...affinity(pool),
    ...(template.tolerations && { tolerations: given<V1Toleration[]>(template.tolerations) }),
    ...(template.priorityClassName && { priorityClassName: template.priorityClassName }),
    ...(template.runtimeClassName && { runtimeClassName: template.runtimeClassName }),
    topologySpreadConstraints: spread(pool),
    ...(template.dnsConfig && { dnsConfig: given<V1PodDNSConfig>(template.dnsConfig) }),
    ...(template.hostAliases && { hostAliases: given<V1HostAlias[]>(template.hostAliases) }),
    ...(template.initContainers && {
      initContainers: given<V1Container[]>(template.initContainers),
    }),
    containers: [container(pool), ...given<V1Container[]>(template.containers ?? [])],
    volumes: [
      { name: 'tmp', emptyDir: { sizeLimit: scratchSizeLimit(pool) } },
      ...poolSecretVolume(pool),
      ...given<V1Volume[]>(template.volumes ?? []),
    ],
  };
}

/** The fields that the Pod Security Standard `restricted` requires come last. */
const podSecurityContext = (pool: BrowserPool): V1PodSecurityContext => ({
  ...(pool.spec.template.podSecurityContext ?? {
    runAsUser: USER,
    runAsGroup: USER,
    fsGroup: USER,
  }),
  runAsNonRoot: true,
  seccompProfile: seccompProfile(pool),
});

function securityContext({ spec }: BrowserPool): V1SecurityContext {
  const own = given<V1SecurityContext>(spec.template.securityContext ?? {});
  // In a container they would override those of the pod.
  const { runAsNonRoot: _nonRoot, seccompProfile: _profile, ...others } = own;
  return {
    ...others,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  };
}

const scratchSizeLimit = ({ spec }: BrowserPool): string =>
  spec.template.scratchSizeLimit ?? `${SCRATCH_MIB.base + spec.slotsPerPod * SCRATCH_MIB.slot}Mi`;

function seccompProfile({ spec }: BrowserPool): V1SeccompProfile {
  const { mode, localhostProfile = DEFAULT_PROFILE } = spec.template.chromeSandbox;
  if (mode === 'LocalhostProfile') return { type: 'Localhost', localhostProfile };
  return { type: mode === 'Unconfined' ? 'Unconfined' : 'RuntimeDefault' };
}

/** By default, pods are spread across nodes on a best-effort basis. */
function spread({ metadata, spec }: BrowserPool): V1TopologySpreadConstraint[] {
  const labelSelector = { matchLabels: selectorOf(metadata.name) };
  const own = spec.template.topologySpreadConstraints;
  if (own)
    return given<V1TopologySpreadConstraint[]>(own).map(constraint => ({
      labelSelector,
      ...constraint,
    }));
  return [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector,
    },
  ];
}

/**
 * Adds preferred pod anti-affinity to the spread constraints, unless the pool disables the
 * constraints or sets its own pod anti-affinity.
 */
function affinity(pool: BrowserPool): { affinity?: V1Affinity } {
  const own = given<V1Affinity | undefined>(pool.spec.template.affinity);
  if (spread(pool).length === 0) return own ? { affinity: own } : {};
  const labelSelector = { matchLabels: selectorOf(pool.metadata.name) };
  const podAffinityTerm = { topologyKey: 'kubernetes.io/hostname', labelSelector };
  const podAntiAffinity = {
    preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm }],
  };
  return { affinity: { podAntiAffinity, ...own } };
}

function container(pool: BrowserPool): V1Container {
  const { template } = pool.spec;
  return {
    name: WORKER_CONTAINER,
    image: template.image,
    ...(template.imagePullPolicy && { imagePullPolicy: template.imagePullPolicy }),
    env: [...environment(pool), ...(template.env ?? [])],
    ...(template.envFrom && { envFrom: template.envFrom }),
    ports: Object.entries(PORTS).map(([name, containerPort]) => ({
      name,
      containerPort,
      protocol: 'TCP',
    })),
    resources: resources(pool),
    securityContext: securityContext(pool),
    ...probes(pool),
    ...(template.lifecycle && { lifecycle: given<V1Lifecycle>(template.lifecycle) }),
    // The end of the log is kept in the pod status, from which conditions are derived.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: 'tmp', mountPath: '/tmp' },
      ...(pool.spec.poolSecret.mountAsFile
        ? [{ name: POOL_SECRET_VOLUME, mountPath: POOL_SECRET_FOLDER, readOnly: true }]
        : []),
      ...given<V1VolumeMount[]>(template.volumeMounts ?? []),
    ],
  };
}

const HANDLERS = ['httpGet', 'exec', 'tcpSocket', 'grpc'];

/** The fields of the pool replace those of the defaults; another handler replaces httpGet. */
function probes({
  spec,
}: BrowserPool): Record<`${'startup' | 'liveness' | 'readiness'}Probe`, V1Probe> {
  const { startupProbe, livenessProbe, readinessProbe } = spec.template;
  const probe = (path: string, defaults: V1Probe, own: object = {}) => ({
    ...(!HANDLERS.some(handler => handler in own) && { httpGet: { path, port: 'operations' } }),
    ...defaults,
    ...own,
  });
  return {
    startupProbe: probe('/livez', { periodSeconds: 2, failureThreshold: 60 }, startupProbe),
    livenessProbe: probe(
      '/livez',
      { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
      livenessProbe,
    ),
    readinessProbe: probe(
      '/readyz',
      { periodSeconds: 2, timeoutSeconds: 2, failureThreshold: 3 },
      readinessProbe,
    ),
  };
}

/**
 * Requests the size of the /tmp volume, so that the scheduler finds a node with enough disk space
 * and the pod is not the first to be evicted under disk pressure.
 */
function resources(pool: BrowserPool): V1ResourceRequirements {
  const own = given<V1ResourceRequirements>(pool.spec.template.resources ?? {});
  if ((own.requests?.[DISK] ?? own.limits?.[DISK]) !== undefined) return own;
  return { ...own, requests: { ...own.requests, [DISK]: scratchSizeLimit(pool) } };
}

function poolSecretVolume({ spec: { poolSecret } }: BrowserPool): V1Volume[] {
  if (!poolSecret.mountAsFile) return [];
  const items = [{ key: poolSecret.key, path: POOL_SECRET_FILE }];
  return [{ name: POOL_SECRET_VOLUME, secret: { secretName: poolSecret.name, items } }];
}

function environment({ metadata, spec }: BrowserPool): NonNullable<V1Container['env']> {
  const { chromeSandbox, terminationGracePeriodSeconds } = spec.template;
  return [
    { name: 'PRESSROOM_POOL', value: metadata.name },
    { name: 'PRESSROOM_SLOTS', value: String(spec.slotsPerPod) },
    spec.poolSecret.mountAsFile
      ? { name: 'PRESSROOM_POOL_SECRET_FILE', value: `${POOL_SECRET_FOLDER}/${POOL_SECRET_FILE}` }
      : {
          name: 'PRESSROOM_POOL_SECRET',
          valueFrom: { secretKeyRef: { name: spec.poolSecret.name, key: spec.poolSecret.key } },
        },
    { name: 'PRESSROOM_CHROME_SANDBOX', value: chromeSandbox.mode === 'Off' ? 'off' : 'on' },
    {
      name: 'PRESSROOM_DRAIN_TIMEOUT',
      value: `${Math.max(1, terminationGracePeriodSeconds - GRACE_MARGIN_S)}s`,
    },
    { name: 'PRESSROOM_GATEWAY_PORT', value: String(PORTS.gateway) },
    { name: 'PRESSROOM_OPERATIONS_PORT', value: String(PORTS.operations) },
  ];
}
