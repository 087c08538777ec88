// The resources that the controller uses: their API paths, and the calls on them.
import type { V1ManagedFieldsEntry, V1OwnerReference } from '@kubernetes/client-node';
import { GROUP, PLURAL, VERSION } from '../../crds/browser-pool.ts';
import type { KubernetesCall, Transport, Verb } from './transport.ts';

/** Name of the controller as a field manager in server-side apply. */
export const FIELD_MANAGER = 'pressroom-controller';

const ROOTS = {
  [PLURAL]: `/apis/${GROUP}/${VERSION}`,
  deployments: '/apis/apps/v1',
  services: '/api/v1',
  poddisruptionbudgets: '/apis/policy/v1',
  pods: '/api/v1',
  secrets: '/api/v1',
  leases: '/apis/coordination.k8s.io/v1',
  events: '/apis/events.k8s.io/v1',
} as const;
export type Resource = keyof typeof ROOTS;

export const GROUP_VERSION_OF: Record<Resource, string> = Object.fromEntries(
  Object.entries(ROOTS).map(([resource, root]) => [resource, root.replace(/^\/apis?\//, '')]),
) as Record<Resource, string>;

/** The current time as a Kubernetes MicroTime. */
export const microTime = (): string => new Date().toISOString().replace('Z', '000Z');

export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: V1OwnerReference[];
  managedFields?: V1ManagedFieldsEntry[];
}

export interface KubernetesObject {
  metadata: ObjectMeta;
}

/** An object to write. */
export interface Written {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace: string; [field: string]: unknown };
  spec?: object;
  status?: object;
}

export interface ObjectList<T> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[];
}

/** The API path of a resource in one namespace or, without one, in all. */
export function pathOf(
  resource: Resource,
  namespace: string | undefined,
  name?: string,
  subresource?: string,
): string {
  const parts = [
    ROOTS[resource],
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    resource,
    name,
    subresource,
  ];
  return parts.filter(part => part !== undefined).join('/');
}

export interface Kubernetes {
  get<T extends KubernetesObject>(resource: Resource, namespace: string, name: string): Promise<T>;
  /**
   * Server-side apply with force: the controller becomes the owner of all fields in `object`.
   * Fields that it owned before and that are missing are removed.
   */
  apply<T extends KubernetesObject>(
    resource: Resource,
    object: Written,
    subresource?: 'status',
  ): Promise<T>;
  /** A merge patch of some fields of an object that another client owns. */
  patch<T extends KubernetesObject>(
    resource: Resource,
    namespace: string,
    name: string,
    change: object,
  ): Promise<T>;
  create<T>(resource: Resource, object: Written): Promise<T>;
  /** Replaces the object. Rejected with 409 if it has changed since `metadata.resourceVersion`. */
  update<T>(resource: Resource, object: Written): Promise<T>;
}

interface Limits {
  /** Called before each write; throws if this process must not write. */
  mayWrite?(): void;
  timeoutMs?: number;
}

export function kubernetes(
  transport: Transport,
  { mayWrite = () => {}, timeoutMs }: Limits = {},
): Kubernetes {
  const call = <T>(
    verb: Verb,
    resource: Resource,
    path: string,
    body?: unknown,
    query?: KubernetesCall['query'],
  ) => {
    if (verb !== 'get') mayWrite();
    return transport.call<T>({
      verb,
      resource,
      path,
      body,
      timeoutMs,
      query: verb === 'get' ? {} : { fieldManager: FIELD_MANAGER, ...query },
    });
  };
  const at = (resource: Resource, { metadata }: Written, subresource?: string) =>
    pathOf(resource, metadata.namespace, metadata.name, subresource);
  return {
    get: (resource, namespace, name) => call('get', resource, pathOf(resource, namespace, name)),
    apply: (resource, object, subresource) =>
      call('apply', resource, at(resource, object, subresource), object, { force: true }),
    patch: (resource, namespace, name, change) =>
      call('patch', resource, pathOf(resource, namespace, name), change),
    create: (resource, object) =>
      call('create', resource, pathOf(resource, object.metadata.namespace), object),
    update: (resource, object) => call('update', resource, at(resource, object), object),
  };
}
