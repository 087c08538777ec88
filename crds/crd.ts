// The CustomResourceDefinition of BrowserPool, generated from its zod schemas.
import { z } from 'zod';
import { GROUP, KIND, PLURAL, specSchema, statusSchema, VERSION } from './browser-pool.ts';

type JsonSchema = { [key: string]: unknown };

/**
 * A structural schema, as Kubernetes requires: without `additionalProperties: false` next to
 * `properties` (the API server drops or rejects unknown fields), without the bounds of JavaScript's
 * safe integers, without a schema for map keys.
 */
function structural(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(structural);
  if (typeof node !== 'object' || node === null) return node;
  const {
    additionalProperties,
    propertyNames: _names,
    anyOf: _either,
    ...rest
  } = node as JsonSchema;
  const entries = Object.entries(rest)
    .filter(
      ([key, value]) =>
        !(key === 'minimum' && value === Number.MIN_SAFE_INTEGER) &&
        !(key === 'maximum' && value === Number.MAX_SAFE_INTEGER),
    )
    .map(([key, value]) => [key, key === 'default' ? value : structural(value)]);
  const kept: JsonSchema = Object.fromEntries(entries);
  // The API server drops an empty map. Applied and stored object must be equal, or Helm 4 reports a
  // conflict.
  if (isEmpty(kept.properties)) delete kept.properties;
  // The API server validates the rules of an object against its default without adding the defaults
  // of its fields, so the default includes them.
  if (kept.default !== undefined && kept.properties) kept.default = defaultsOf(kept);
  // The API server requires exactly this `anyOf` with int-or-string.
  if ('x-kubernetes-int-or-string' in kept)
    return { ...kept, anyOf: [{ type: 'integer' }, { type: 'string' }] };
  if (
    kept.type === 'object' &&
    !kept.properties &&
    !kept['x-kubernetes-preserve-unknown-fields'] &&
    additionalProperties
  )
    kept.additionalProperties = structural(additionalProperties);
  // Typed clients map `int32` to an integer type.
  if (kept.type === 'integer') kept.format = 'int32';
  return kept;
}

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const defaultsOf = ({ properties }: JsonSchema): JsonSchema =>
  Object.fromEntries(
    Object.entries(properties as Record<string, JsonSchema>).flatMap(([name, property]) =>
      property.default === undefined
        ? []
        : [[name, property.properties ? defaultsOf(property) : property.default]],
    ),
  );

const schemaOf = (schema: z.ZodType) => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
  }) as JsonSchema;
  return structural(made);
};

const column = (
  name: string,
  type: string,
  jsonPath: string,
  description: string,
  priority = 0,
) => ({
  name,
  type,
  jsonPath,
  description,
  ...(priority > 0 && { priority }),
});

const columns = [
  column('Desired', 'integer', '.status.desiredReplicas', 'Desired number of pods.'),
  column('Ready', 'integer', '.status.readyReplicas', 'Number of ready pods.'),
  column('Busy', 'integer', '.status.busySlots', 'Number of busy slots.'),
  column('Queued', 'integer', '.status.queuedRenders', 'Number of queued renders.'),
  column(
    'Metrics',
    'string',
    '.status.conditions[?(@.type=="MetricsAvailable")].status',
    'Whether Prometheus reports the load.',
  ),
  column(
    'Reason',
    'string',
    '.status.lastScaleReason',
    'Reason for the last change of the desired number of pods.',
    1,
  ),
  column('Image', 'string', '.spec.template.image', 'The worker image.', 1),
  column('Age', 'date', '.metadata.creationTimestamp', 'Age of the pool.'),
];

/** Deleting the CRD would delete the pools of all releases, so Argo CD and Helm must keep it. */
const KEPT = {
  'argocd.argoproj.io/sync-options': 'Prune=false,Delete=false',
  'helm.sh/resource-policy': 'keep',
};

/** The complete object, as applied to a cluster. */
export const browserPoolCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${PLURAL}.${GROUP}`, annotations: KEPT },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: {
      kind: KIND,
      listKind: `${KIND}List`,
      plural: PLURAL,
      singular: 'browserpool',
      shortNames: ['bpool'],
      categories: ['pressroom'],
    },
    versions: [
      {
        name: VERSION,
        served: true,
        storage: true,
        subresources: {
          status: {},
          // `kubectl scale` writes spec.replicas, which disables autoscaling.
          scale: {
            specReplicasPath: '.spec.replicas',
            statusReplicasPath: '.status.replicas',
            labelSelectorPath: '.status.selector',
          },
        },
        additionalPrinterColumns: columns,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'BrowserPool is a pool of workers for one Pressroom API. Each worker is a pod that runs headless Chrome. The controller creates a Deployment, a headless Service and a PodDisruptionBudget for each BrowserPool, and scales the Deployment with the load.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              // The name is used for a Service and as a label value.
              metadata: {
                type: 'object',
                properties: {
                  name: { type: 'string', maxLength: 45, pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' },
                },
              },
              spec: schemaOf(specSchema),
              status: schemaOf(statusSchema),
            },
          },
        },
      },
    ],
  },
};
