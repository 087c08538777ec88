// The BrowserPool resource: what an operator writes (spec) and reads (status), as zod. The CRD, its
// documentation and the controller's types all come from here.
import { z } from 'zod';
import { arrayOf, embedded, listOf, named, textMap, withRules } from './schema.ts';

export const GROUP = 'pressroom.dev';
export const VERSION = 'v1alpha1';
export const KIND = 'BrowserPool';
export const PLURAL = 'browserpools';

/** What the API and the autoscaler count on comes from other fields of the pool. */
export const CONTROLLER_VARIABLES: readonly string[] = [
  'PRESSROOM_POOL',
  'PRESSROOM_SLOTS',
  'PRESSROOM_POOL_SECRET',
  'PRESSROOM_CHROME_SANDBOX',
  'PRESSROOM_DRAIN_TIMEOUT',
  'PRESSROOM_GATEWAY_PORT',
  'PRESSROOM_OPERATIONS_PORT',
];

const count = (min: number, max: number, fallback: number) =>
  z.int().min(min).max(max).default(fallback);

const scaleUp = z
  .object({
    maxPodsPerMinute: count(1, 1000, 40).describe(
      'Pods that may be added within a minute. The larger of this and maxPercentPerMinute counts.',
    ),
    maxPercentPerMinute: count(0, 10_000, 900).describe(
      'Growth within a minute in percent of the pods that there were. The larger of this and maxPodsPerMinute counts.',
    ),
  })
  .describe('How fast the pool may grow.');

const scaleDown = z
  .object({
    delaySeconds: count(0, 86_400, 300).describe(
      'The pool shrinks to the highest size that was wanted within this time: 300 means that five minutes of quiet come first.',
    ),
    maxPodsPerMinute: count(1, 1000, 4).describe(
      'Pods that may be removed within a minute. The larger of this and maxPercentPerMinute counts.',
    ),
    maxPercentPerMinute: count(0, 100, 50).describe(
      'Shrinkage within a minute in percent of the pods that there were. The larger of this and maxPodsPerMinute counts.',
    ),
  })
  .describe('How soon and how fast the pool may shrink.');

export const scalingSchema = withRules(
  z.object({
    minReplicas: count(0, 1000, 1).describe(
      'Never fewer pods than this. With 0 the first render waits until a pod has started.',
    ),
    maxReplicas: count(1, 1000, 10).describe('Never more pods than this.'),
    targetUtilizationPercent: count(10, 100, 70).describe(
      'How many of the slots should be busy on average, in percent: lower means shorter waits and more pods. A load of less than about 22 slots gets more room, since it varies more.',
    ),
    idleSlots: count(0, 10_000, 0).describe(
      'Slots that are kept free on top of what the load needs, for bursts that cannot wait for a pod to start.',
    ),
    stableWindowSeconds: count(10, 3600, 60).describe('Load is averaged over this time.'),
    panicWindowSeconds: count(1, 600, 6).describe(
      'Load is averaged over this shorter time too, to notice bursts. It is never less than three scrapes of Prometheus. What a burst needs is kept for twice the time that is set here, and for two scrapes at least; in that time a pool shrinks by one step.',
    ),
    panicThresholdPercent: count(110, 1000, 200).describe(
      'The short average counts when it needs this many percent of the ready pods. A queue counts in any case.',
    ),
    drainSeconds: count(1, 600, 10).describe(
      'A queue is worked off within this time once the pods that it needs are ready: lower means more pods for a burst.',
    ),
    scaleUp: scaleUp.prefault({}),
    scaleDown: scaleDown.prefault({}),
  }),
  {
    rule: 'self.minReplicas <= self.maxReplicas',
    message: 'minReplicas must not be larger than maxReplicas',
    good: value => value.minReplicas <= value.maxReplicas,
  },
  {
    rule: 'self.panicWindowSeconds <= self.stableWindowSeconds',
    message: 'panicWindowSeconds must not be larger than stableWindowSeconds',
    good: value => value.panicWindowSeconds <= value.stableWindowSeconds,
  },
).describe(
  'The autoscaler: how many pods the load needs. Load is the busy slots and the renders that wait, as Prometheus tells them.',
);

const chromeSandbox = withRules(
  z.object({
    mode: z
      .enum(['LocalhostProfile', 'Unconfined', 'Off'])
      .default('LocalhostProfile')
      .describe(
        "LocalhostProfile: Chrome's own sandbox, by a seccomp profile that lies on each node and allows what it needs; pod security `restricted` accepts it. Unconfined: Chrome's own sandbox without any seccomp filter around the pod; pod security `restricted` and `baseline` refuse it. Off: the runtime's default filter, and no sandbox in Chrome: a page that breaks out of its renderer has the whole pod.",
      ),
    localhostProfile: z
      .string()
      .min(1)
      .max(253)
      .optional()
      .describe(
        "The profile's path below the kubelet's seccomp folder, for LocalhostProfile. Default: pressroom/chrome.json.",
      ),
  }),
  {
    rule: "!has(self.localhostProfile) || self.mode == 'LocalhostProfile'",
    message: 'localhostProfile is only read with mode LocalhostProfile',
    good: value => value.localhostProfile === undefined || value.mode === 'LocalhostProfile',
  },
).describe(
  "How Chrome is confined, on top of the pod's own limits (no root, no capabilities, a read-only file system).",
);

const template = z
  .object({
    image: z.string().min(1).max(1024).describe('The image of the worker, by tag or by digest.'),
    imagePullPolicy: z
      .enum(['Always', 'IfNotPresent', 'Never'])
      .optional()
      .describe('When the image is fetched. Default: as Kubernetes does.'),
    imagePullSecrets: listOf(
      z.object({ name: z.string().min(1).max(253).describe('Name of the Secret.') }),
      ['name'],
      16,
    )
      .optional()
      .describe('Secrets for the registry of the image.'),
    resources: embedded()
      .optional()
      .describe(
        'Requests and limits of the container, as in a pod. Each slot has a Chrome of its own: it needs half a core under load, 100 MiB while it waits and about 200 MiB for an ordinary page, and up to PRESSROOM_RENDER_MEMORY (1 GiB) and 512 MiB in the worst case; Node needs 512 MiB.',
      ),
    env: withRules(arrayOf(named(), 200), {
      rule: `self.all(variable, !(variable.name in [${CONTROLLER_VARIABLES.map(name => `'${name}'`).join(', ')}]))`,
      message: `these are set by the controller and cannot be set here: ${CONTROLLER_VARIABLES.join(', ')}`,
      good: variables => !variables.some(({ name }) => CONTROLLER_VARIABLES.includes(name)),
    })
      .optional()
      .describe('More environment variables of the worker, as in a container.'),
    envFrom: arrayOf(embedded(), 50)
      .optional()
      .describe('More environment variables from ConfigMaps and Secrets, as in a container.'),
    labels: textMap().optional().describe('More labels of the pods.'),
    annotations: textMap().optional().describe('More annotations of the pods.'),
    nodeSelector: textMap().optional().describe('Labels that a node must have.'),
    affinity: embedded().optional().describe('As in a pod.'),
    tolerations: arrayOf(embedded(), 50).optional().describe('As in a pod.'),
    topologySpreadConstraints: arrayOf(embedded(), 20)
      .optional()
      .describe(
        'As in a pod; a constraint without labelSelector counts the pods of this pool. Default: spread over nodes as well as it can be done.',
      ),
    priorityClassName: z.string().max(253).optional().describe('As in a pod.'),
    runtimeClassName: z.string().max(253).optional().describe('As in a pod.'),
    serviceAccountName: z
      .string()
      .max(253)
      .optional()
      .describe('As in a pod. Its token is never mounted: workers do not speak to Kubernetes.'),
    volumes: arrayOf(named(), 50)
      .optional()
      .describe('More volumes, as in a pod, such as the certificates of the gateway.'),
    volumeMounts: arrayOf(named(), 50)
      .optional()
      .describe('Where they are mounted, as in a container.'),
    scratchSizeLimit: z
      .string()
      .regex(/^[1-9][0-9]*(Ki|Mi|Gi)$/)
      .optional()
      .describe(
        'Size limit of the volume for /tmp, where the profiles of Chrome lie. Default: 512 MiB and 256 MiB for each slot.',
      ),
    terminationGracePeriodSeconds: count(10, 3600, 180).describe(
      'How long a pod that is told to stop may take to finish its renders.',
    ),
    chromeSandbox: chromeSandbox.prefault({}),
  })
  .describe('What the pods are made from.');

export const specSchema = z
  .object({
    slotsPerPod: count(1, 256, 2).describe(
      'Renders at once in one pod, each in a Chrome of its own. About one for each core that the pod may use, and never fewer than two. A slot takes 8 processes with 65 threads, and more while a page starts some: where the kubelet limits the processes of a pod (podPidsLimit), leave 150 for each slot and 100 for Node.',
    ),
    replicas: z
      .int()
      .min(0)
      .max(1000)
      .optional()
      .describe(
        'A fixed number of pods. It switches the autoscaler off; scaling is then not read.',
      ),
    paused: z
      .boolean()
      .default(false)
      .describe(
        'The controller leaves the pool as it is: it changes nothing and removes nothing until this is false again. Status is still told.',
      ),
    poolSecret: z
      .object({
        name: z
          .string()
          .min(1)
          .max(253)
          .describe('Name of the Secret, in the namespace of the pool.'),
        key: z.string().min(1).max(253).default('pool-secret').describe('Which of its entries.'),
      })
      .describe(
        'The secret that the API signs its tickets with. The API and the workers of a pool must have the same.',
      ),
    scaling: scalingSchema.prefault({}),
    maxUnavailable: withRules(
      z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
      {
        rule: "type(self) == int ? self >= 1 : self.matches('^[1-9][0-9]?%$')",
        message: 'must be a number from 1 on or a share from 1% to 99%',
        good: value => (typeof value === 'number' ? value >= 1 : /^[1-9][0-9]?%$/.test(value)),
      },
    )
      .default('25%')
      .describe(
        'Pods that a drain of nodes may take away at once (PodDisruptionBudget), as a number or in percent.',
      ),
    template,
  })
  .describe('How many workers there should be and what they are made from.');

const condition = z.object({
  type: z.string().max(316).describe('What it is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  observedGeneration: z
    .int()
    .optional()
    .describe('The generation of the pool that it was told of.'),
  lastTransitionTime: z.iso.datetime().describe('When status last changed.'),
  reason: z.string().max(1024).describe('One word for machines.'),
  message: z.string().max(32_768).describe('A sentence for people.'),
});

/** The conditions that the controller tells, each with what True means. */
export const CONDITIONS = {
  Ready: 'As many pods as wanted are ready and run what the spec says.',
  ScalingActive:
    'The autoscaler decides about the size. False: the size is fixed, the pool is paused, or the load is unknown.',
  ScalingLimited: 'The load needs more or fewer pods than the limits allow.',
  MetricsAvailable:
    'Prometheus tells the load. False: the size is held until it does; it never shrinks blindly. Its reason ScrapedTooRarely says that a burst may be seen too late.',
  ChromeSandboxed: "Chrome's own sandbox is on in the pods that run.",
} as const;
export type ConditionType = keyof typeof CONDITIONS;

export const statusSchema = z
  .object({
    observedGeneration: z
      .int()
      .optional()
      .describe('The generation of the spec that this status is about.'),
    desiredReplicas: z.int().optional().describe('Pods that are wanted.'),
    replicas: z.int().optional().describe('Pods that there are.'),
    readyReplicas: z.int().optional().describe('Pods that are ready.'),
    updatedReplicas: z.int().optional().describe('Pods that are made from the current template.'),
    busySlots: z
      .int()
      .optional()
      .describe('Slots with a render on them, when Prometheus was last asked.'),
    queuedRenders: z
      .int()
      .optional()
      .describe('Renders that waited for a slot, when Prometheus was last asked.'),
    selector: z.string().optional().describe('The labels of the pods, for kubectl scale.'),
    lastScaleTime: z.iso
      .datetime()
      .optional()
      .describe('When the number of wanted pods last changed.'),
    lastScaleReason: z.string().optional().describe('Why it did.'),
    conditions: listOf(condition, ['type'], 16)
      .optional()
      .describe(
        `What is so and what is not. ${Object.entries(CONDITIONS)
          .map(([type, meaning]) => `${type}: ${meaning}`)
          .join(' ')}`,
      ),
  })
  .describe('What the controller saw and did. Nobody else writes it.');

export type BrowserPoolSpec = z.output<typeof specSchema>;
/** As it is written by hand, before the API server puts the defaults in. */
export type BrowserPoolSpecInput = z.input<typeof specSchema>;
export type PoolScaling = z.output<typeof scalingSchema>;
export type BrowserPoolStatus = z.output<typeof statusSchema>;
export type Condition = z.output<typeof condition>;

export interface BrowserPool {
  apiVersion: `${typeof GROUP}/${typeof VERSION}`;
  kind: typeof KIND;
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    resourceVersion: string;
    generation: number;
    creationTimestamp?: string;
    deletionTimestamp?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  spec: BrowserPoolSpec;
  status?: BrowserPoolStatus;
}
