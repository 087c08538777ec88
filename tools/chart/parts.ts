// What values of several parts of the chart have in common.
import { z } from 'zod';

/** A part of Kubernetes' own API: the API server says what is wrong in it. */
export const object = () => z.looseObject({});
export const listValue = () => z.array(object());

/**
 * A group of values, each with its default. The cast: TypeScript does not see that a shape of
 * defaults alone takes `{}`.
 */
export const group = <T extends z.ZodRawShape>(shape: T) =>
  z.strictObject(shape).prefault({} as never);

export const stringValue = (fallback = '') => z.string().default(fallback);
export const flag = (fallback: boolean) => z.boolean().default(fallback);
export const countValue = (fallback: number, min = 0, max = 1_000_000) =>
  z.int().min(min).max(max).default(fallback);
export const textMapValue = (fallback: Record<string, string> = {}) =>
  z.record(z.string(), z.string()).default(fallback);
export const words = (fallback: string[] = []) => z.array(z.string()).default(fallback);

/** `entry` of a Secret that is there already. */
export const secretEntry = (entry: string, what: string) =>
  group({
    existingSecret: stringValue().describe(`Name of a Secret of yours that holds ${what}.`),
    key: stringValue(entry).describe('Which of its entries.'),
  });

export const imageOf = (repository: string, what: string) =>
  group({
    repository: stringValue(repository).describe('Name of the image, below `image.registry`.'),
    tag: stringValue().describe('Its tag, when it is another than `image.tag`.'),
    digest: stringValue().describe('Its digest, `sha256:…`. It counts instead of any tag.'),
  }).describe(`The image of ${what}.`);

export const resources = (requests: Record<string, string>, limits: Record<string, string>) =>
  object().default({ requests, limits }).describe('Requests and limits of the container.');

const spread = [
  { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
];

/** What an operator may want to say of any pod. */
export const podValues = () => ({
  podLabels: textMapValue().describe('More labels of the pods.'),
  podAnnotations: textMapValue().describe('More annotations of the pods.'),
  nodeSelector: textMapValue().describe('Labels that a node must have.'),
  tolerations: listValue().default([]).describe('As in a pod.'),
  affinity: object().default({}).describe('As in a pod.'),
  topologySpreadConstraints: listValue()
    .default(spread)
    .describe('As in a pod. A constraint without `labelSelector` counts the pods of this part.'),
  priorityClassName: stringValue().describe('As in a pod.'),
  extraEnv: listValue().default([]).describe('More environment variables, as in a container.'),
  extraEnvFrom: listValue()
    .default([])
    .describe('More environment variables from ConfigMaps and Secrets, as in a container.'),
  extraVolumes: listValue().default([]).describe('More volumes, as in a pod.'),
  extraVolumeMounts: listValue().default([]).describe('Where they are mounted, as in a container.'),
});

export const serviceAccount = () =>
  group({
    create: flag(true).describe('Whether the chart makes it.'),
    name: stringValue().describe('Its name. Default: that of the part.'),
    annotations: textMapValue().describe('Its annotations.'),
  }).describe('The service account of the pods.');

export const disruptionBudget = () =>
  group({
    enabled: flag(true).describe('Whether there is a PodDisruptionBudget.'),
    maxUnavailable: z
      .union([z.int(), z.string()])
      .default(1)
      .describe('Pods that a drain of nodes may take away at once, as a number or in percent.'),
  });
