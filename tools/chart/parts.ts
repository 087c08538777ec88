// Building blocks shared by the chart's values.
import { z } from 'zod';
import { type formats, withChecks } from './formats.ts';

/** A part of the Kubernetes API: the API server validates it. */
export const object = () => z.looseObject({});
export const listValue = (fallback: Record<string, unknown>[] = []) =>
  z.array(object()).default(fallback);
export const objectValue = (fallback: Record<string, unknown> = {}) => object().default(fallback);

/** A group of values. The cast: TypeScript cannot infer that all fields have defaults. */
export const group = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape).prefault({} as never);

export const stringValue = (fallback = '') => z.string().default(fallback);
export const flag = (fallback: boolean) => z.boolean().default(fallback);
export const choiceValue = <const T extends string>(choices: readonly T[], fallback: NoInfer<T>) =>
  z.enum(choices).default(fallback);
export const countValue = (fallback: number, min = 0, max = 1_000_000) =>
  z.int().min(min).max(max).default(fallback);
export const textMapValue = (fallback: Record<string, string> = {}) =>
  z.record(z.string(), z.string()).default(fallback);
export const stringList = (fallback: string[] = []) => z.array(z.string()).default(fallback);

/** Text or a list of texts in one of the formats. Empty text is a value that is not set. */
export const textIn = (format: keyof typeof formats, fallback = '') =>
  withChecks(stringValue(fallback), { format });
export const listIn = (format: keyof typeof formats) =>
  withChecks(stringList(), { format, below: '*' });

/** The key `entry` of an existing Secret. */
export const secretFields = (entry: string, what: string) => ({
  existingSecret: textIn('objectName').describe(`Name of an existing Secret with ${what}.`),
  key: stringValue(entry).describe('Key in the Secret.'),
});
export const secretEntry = (entry: string, what: string) => group(secretFields(entry, what));

export const imageOf = (repository: string, what: string) =>
  group({
    repository: textIn('imageName', repository).describe(
      'Image name, relative to `image.registry`.',
    ),
    tag: textIn('imageTag').describe('Image tag. Defaults to `image.tag`.'),
    digest: textIn('imageDigest').describe('Image digest (`sha256:…`). Overrides the tag.'),
  }).describe(`The ${what} image.`);

const quantities = (type: z.ZodType) =>
  withChecks(
    type,
    { format: 'quantity', below: 'requests.*' },
    { format: 'quantity', below: 'limits.*' },
  );
/** Resource requests and limits; all others by `fallback`. */
export const resourceValues = (fallback: Record<string, unknown> = {}) =>
  quantities(objectValue(fallback));

export const resources = (requests: Record<string, string>, limits: Record<string, string>) =>
  resourceValues({ requests, limits }).describe('Resource requests and limits of the container.');

const spread = [
  { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
];

/** Labels and annotations of pods. `of` names pods that have those of another component too. */
export const podMetadata = (of = '') => ({
  podLabels: textMapValue().describe(`Additional labels for the pods${of}.`),
  podAnnotations: textMapValue().describe(`Additional annotations for the pods${of}.`),
});

const probe = (kind: string, does: string) =>
  objectValue().describe(
    `Fields of the ${kind} probe that replace the defaults of the chart, such as \`periodSeconds\`. ${does}`,
  );

/** Parts of a pod that Kubernetes defines, under their Kubernetes names. */
const podExtensions = () => ({
  extraContainers: listValue().describe(
    'Additional containers of the pods. Give them a `securityContext` that the Pod Security Standard of the namespace allows.',
  ),
  initContainers: listValue().describe(
    'Init containers of the pods. A container with `restartPolicy: Always` is a sidecar that starts before the process and ends after it.',
  ),
  dnsConfig: objectValue().describe('DNS configuration of the pods.'),
  hostAliases: listValue().describe(
    'Entries of /etc/hosts in the pods, each with `ip` and `hostnames`.',
  ),
  lifecycle: objectValue().describe(
    'Lifecycle handlers of the container. The termination grace period includes the time of `preStop`.',
  ),
  startupProbe: probe('startup', 'The container is restarted when it has not started in time.'),
  livenessProbe: probe('liveness', 'The container is restarted when it does not respond.'),
  readinessProbe: probe('readiness', 'The pod receives no requests while it is not ready.'),
});

/** Values that each Deployment and the BrowserPool have in common. */
export const podValues = () => ({
  ...podMetadata(),
  nodeSelector: textMapValue().describe('Node selector of the pods.'),
  tolerations: listValue().describe('Tolerations of the pods.'),
  affinity: objectValue().describe('Affinity rules of the pods.'),
  topologySpreadConstraints: listValue(spread).describe(
    'Topology spread constraints of the pods. A constraint without `labelSelector` selects the pods of this component.',
  ),
  priorityClassName: stringValue().describe('Priority class of the pods.'),
  extraEnv: listValue().describe('Additional environment variables (`env` of a container).'),
  extraEnvFrom: listValue().describe(
    'Additional environment variables from ConfigMaps and Secrets (`envFrom` of a container).',
  ),
  extraVolumes: listValue().describe('Additional volumes of the pods.'),
  extraVolumeMounts: listValue().describe('Additional volume mounts of the container.'),
  ...podExtensions(),
});

export const serviceAccount = () =>
  group({
    create: flag(true).describe('Create the service account.'),
    name: stringValue().describe(
      'Name of the service account. Defaults to the name of the Deployment, or to `default` when `create` is false.',
    ),
    annotations: textMapValue().describe('Annotations of the service account.'),
  }).describe('The service account of the pods.');

/** A number or a percentage of pods. */
export const unavailableValue = (fallback: number | string) =>
  withChecks(z.union([z.int(), z.string()]).default(fallback), { format: 'maxUnavailable' });

export const disruptionBudget = () =>
  group({
    enabled: flag(true).describe('Create a PodDisruptionBudget.'),
    maxUnavailable: unavailableValue(1).describe(
      'Maximum number or percentage of pods that voluntary disruptions, such as node drains, may make unavailable at once.',
    ),
  });
