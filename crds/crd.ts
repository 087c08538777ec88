// The CustomResourceDefinition of BrowserPool, made from its schema.
import { z } from 'zod';
import { GROUP, KIND, PLURAL, specSchema, statusSchema, VERSION } from './browser-pool.ts';

type JsonSchema = { [key: string]: unknown };

/**
 * A structural schema, as Kubernetes asks for: no `additionalProperties: false` beside `properties`
 * (unknown fields are dropped or refused by the API server itself), no bounds that only say what an
 * integer is, no schema for the keys of a map.
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
  // The API server does not keep it: what is applied must be equal to what is there, else Helm 4
  // sees a conflict.
  if (isEmpty(kept.properties)) delete kept.properties;
  // An object's rules are tried on its default as it stands here, without the defaults of its
  // fields: so they stand in it.
  if (kept.default !== undefined && kept.properties) kept.default = defaultsOf(kept);
  // Beside that word the API server wants exactly these two.
  if ('x-kubernetes-int-or-string' in kept)
    return { ...kept, anyOf: [{ type: 'integer' }, { type: 'string' }] };
  if (
    kept.type === 'object' &&
    !kept.properties &&
    !kept['x-kubernetes-preserve-unknown-fields'] &&
    additionalProperties
  )
    kept.additionalProperties = structural(additionalProperties);
  // An integer of the API's numbers: the field's kind is told, so that clients read it as such.
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
  column('Wanted', 'integer', '.status.desiredReplicas', 'Pods that are wanted.'),
  column('Ready', 'integer', '.status.readyReplicas', 'Pods that are ready.'),
  column('Busy', 'integer', '.status.busySlots', 'Slots with a render on them.'),
  column('Queued', 'integer', '.status.queuedRenders', 'Renders that wait for a slot.'),
  column(
    'Metrics',
    'string',
    '.status.conditions[?(@.type=="MetricsAvailable")].status',
    'Whether Prometheus tells the load.',
  ),
  column(
    'Reason',
    'string',
    '.status.lastScaleReason',
    'Why the number of wanted pods last changed.',
    1,
  ),
  column('Image', 'string', '.spec.template.image', 'The image of the pods.', 1),
  column('Age', 'date', '.metadata.creationTimestamp', 'When the pool was made.'),
];

/** The whole object, as it is applied to a cluster. */
export const browserPoolCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${PLURAL}.${GROUP}` },
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
          // `kubectl scale` fixes the size: it writes spec.replicas, which switches the autoscaler
          // off.
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
              'A pool of workers, each a pod with a headless Chrome, that render for one installation of the Pressroom API. The controller makes a Deployment, a headless Service and a PodDisruptionBudget of it, and follows the load with the number of pods.',
            required: ['spec'],
            properties: {
              apiVersion: { type: 'string' },
              kind: { type: 'string' },
              // A Service is named after it, and a label holds it.
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
