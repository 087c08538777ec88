// The caches of all watched resources in all managed namespaces. A change of an object notifies the
// pool that it belongs to.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import type { BrowserPool } from '../../crds/browser-pool.ts';
import { COST, type ContainerStatus, type Pod } from './objects.ts';
import { keyOf, Reflector } from './reflector.ts';
import type { KubernetesObject, Resource } from './resources.ts';
import type { Transport } from './transport.ts';

const RESOURCES = [
  'browserpools',
  'deployments',
  'services',
  'poddisruptionbudgets',
  'pods',
] as const satisfies Resource[];
type Watched = (typeof RESOURCES)[number];

interface Options {
  transport: Transport;
  /** Empty for all namespaces. */
  namespaces: readonly string[];
  /** Label selector of the objects that the controller creates. */
  selector: string;
  /** The label with the name of the pool. */
  poolLabel: string;
  log: Log;
  metrics: Metrics;
  /** `key` is the `namespace/name` of a pool. */
  onChange(key: string): void;
}

const slimContainer = ({
  name,
  restartCount = 0,
  state = {},
  lastState = {},
}: ContainerStatus): ContainerStatus => ({ name, restartCount, state, lastState });

/** Keeps only the fields that are read, because thousands of pods may be in memory. */
function slim({ metadata, spec, status }: Pod): Pod {
  const {
    name,
    namespace,
    uid,
    resourceVersion,
    labels = {},
    annotations = {},
    deletionTimestamp,
  } = metadata;
  const { conditions = [], initContainerStatuses = [], containerStatuses = [] } = status ?? {};
  const cost = annotations[COST];
  return {
    metadata: {
      name,
      namespace,
      uid,
      resourceVersion,
      labels,
      ...(cost !== undefined && { annotations: { [COST]: cost } }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: { nodeName: spec?.nodeName ?? '' },
    status: {
      conditions: conditions.map(({ type, status, reason = '', message = '' }) => ({
        type,
        status,
        reason,
        message,
      })),
      initContainerStatuses: initContainerStatuses.map(slimContainer),
      containerStatuses: containerStatuses.map(slimContainer),
    },
  };
}

export function createWatches({
  transport,
  namespaces,
  selector,
  poolLabel,
  log,
  metrics,
  onChange,
}: Options) {
  const restarts = metrics.counter(
    'pressroom_kubernetes_watch_restarts_total',
    'Watches that failed and were restarted, by resource.',
    ['resource'],
  );
  const podsByPool = new Map<string, Map<string, Pod>>();
  const scopes = namespaces.length > 0 ? namespaces : [undefined];

  const poolOf = ({ metadata }: KubernetesObject) => {
    const pool = metadata.labels?.[poolLabel];
    return pool === undefined ? undefined : `${metadata.namespace}/${pool}`;
  };

  function index(now: Pod | undefined, before: Pod | undefined): void {
    const old = before && poolOf(before);
    const key = now && poolOf(now);
    // An existing pod keeps its position: conditions show the problem of the first pod and must not
    // change whenever another pod changes.
    if (old !== undefined && old !== key) {
      const pods = podsByPool.get(old);
      pods?.delete(before!.metadata.name);
      if (pods?.size === 0) podsByPool.delete(old);
    }
    if (key === undefined) return;
    const pods = podsByPool.get(key) ?? new Map<string, Pod>();
    pods.set(now!.metadata.name, now!);
    podsByPool.set(key, pods);
  }

  function reflect(resource: Watched, namespace: string | undefined): Reflector<KubernetesObject> {
    const pools = resource === 'browserpools';
    restarts.inc({ resource }, 0);
    return new Reflector<KubernetesObject>({
      resource,
      namespace,
      ...(!pools && { labelSelector: selector }),
      transport,
      log,
      ...(resource === 'pods' && { keep: slim }),
      onChange(now, before) {
        if (resource === 'pods') index(now as Pod | undefined, before as Pod | undefined);
        const object = (now ?? before)!;
        const key = pools ? keyOf(object) : poolOf(object);
        if (key !== undefined) onChange(key);
      },
      onRestart: resource => restarts.inc({ resource }),
    });
  }

  const reflectors = Object.fromEntries(
    RESOURCES.map(resource => [resource, scopes.map(scope => reflect(resource, scope))]),
  ) as Record<Watched, Reflector<KubernetesObject>[]>;
  const all = Object.values(reflectors).flat();
  /** The reflectors of a namespace. */
  const of = (namespace: string) =>
    RESOURCES.map(resource => reflectors[resource][Math.max(0, namespaces.indexOf(namespace))]!);

  const get = (resource: Watched, key: string) => {
    for (const reflector of reflectors[resource]) {
      const found = reflector.get(key);
      if (found) return found;
    }
    return undefined;
  };

  return {
    services: all as Service[],
    /** Whether the caches of one namespace, or of all, are complete. */
    synced: (namespace?: string) =>
      (namespace === undefined ? all : of(namespace)).every(reflector => reflector.synced()),
    poolKeys: () => reflectors.browserpools.flatMap(reflector => [...reflector.all()].map(keyOf)),
    pool: (key: string) => get('browserpools', key) as BrowserPool | undefined,
    find: (resource: Resource, namespace: string, name: string) =>
      (RESOURCES as readonly string[]).includes(resource)
        ? get(resource as Watched, `${namespace}/${name}`)
        : undefined,
    podsOf: (namespace: string, pool: string) => [
      ...(podsByPool.get(`${namespace}/${pool}`)?.values() ?? []),
    ],
  };
}
export type Watches = ReturnType<typeof createWatches>;
