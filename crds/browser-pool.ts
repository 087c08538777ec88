// The BrowserPool resource as zod schemas: spec and status. The CRD, its documentation and the
// controller's types are generated from them.
import { z } from 'zod';
import { arrayOf, embedded, listOf, named, textMap, withRules } from './schema.ts';

export const GROUP = 'pressroom.dev';
export const VERSION = 'v1alpha1';
export const KIND = 'BrowserPool';
export const PLURAL = 'browserpools';

/** Variables that the controller sets from other fields of the pool. */
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
      'Maximum number of pods added per minute. The larger of maxPodsPerMinute and maxPercentPerMinute applies.',
    ),
    maxPercentPerMinute: count(0, 10_000, 900).describe(
      'Maximum growth per minute, as a percentage of the number of pods at the start of the minute. The larger of maxPodsPerMinute and maxPercentPerMinute applies.',
    ),
  })
  .describe('Limits the rate at which the pool grows.');

const scaleDown = z
  .object({
    delaySeconds: count(0, 86_400, 300).describe(
      'Stabilization window in seconds. The pool does not shrink below the highest recommended size within this window.',
    ),
    maxPodsPerMinute: count(1, 1000, 4).describe(
      'Maximum number of pods removed per minute. The larger of maxPodsPerMinute and maxPercentPerMinute applies.',
    ),
    maxPercentPerMinute: count(0, 100, 50).describe(
      'Maximum shrinkage per minute, as a percentage of the number of pods at the start of the minute. The larger of maxPodsPerMinute and maxPercentPerMinute applies.',
    ),
  })
  .describe('Limits when and at which rate the pool shrinks.');

export const scalingSchema = withRules(
  z.object({
    minReplicas: count(0, 1000, 1).describe(
      'Minimum number of pods. With 0, the first render waits until a pod has started.',
    ),
    maxReplicas: count(1, 1000, 10).describe('Maximum number of pods.'),
    targetUtilizationPercent: count(10, 100, 70).describe(
      'Target percentage of busy slots on average. A lower value means shorter queue times and more pods. Below about 22 busy slots, the autoscaler adds extra headroom because small loads vary more.',
    ),
    idleSlots: count(0, 10_000, 0).describe(
      'Number of free slots to keep in addition to the slots that the load needs. Use it to absorb bursts while new pods start.',
    ),
    stableWindowSeconds: count(10, 3600, 60).describe(
      'Length in seconds of the stable window, over which the load is averaged.',
    ),
    panicWindowSeconds: count(1, 600, 6).describe(
      'Length in seconds of the panic window, a shorter average that detects bursts. It is at least three Prometheus scrape intervals. Capacity added for a burst is kept for twice panicWindowSeconds, and for at least two scrape intervals; during that time the pool shrinks by one step only.',
    ),
    panicThresholdPercent: count(110, 1000, 200).describe(
      'The panic window takes effect when its load needs at least this percentage of the ready pods. Queued renders always take effect.',
    ),
    drainSeconds: count(1, 600, 10).describe(
      'Target time in seconds to clear the queue once the new pods are ready. A lower value means more pods for a burst.',
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
  'Configures autoscaling. The number of pods follows the load: busy slots plus queued renders, as reported by Prometheus.',
);

const chromeSandbox = withRules(
  z.object({
    mode: z
      .enum(['LocalhostProfile', 'Unconfined', 'Off'])
      .default('LocalhostProfile')
      .describe(
        "LocalhostProfile: Chrome's sandbox is on. Requires a seccomp profile on each node. Allowed by the Pod Security Standard `restricted`. Unconfined: Chrome's sandbox is on and the pod has no seccomp profile. Not allowed by the Pod Security Standards `baseline` and `restricted`. Off: Chrome's sandbox is off and the pod has the runtime's default seccomp profile. A page that exploits a flaw in Chrome's renderer can take over the pod.",
      ),
    localhostProfile: z
      .string()
      .min(1)
      .max(253)
      .optional()
      .describe(
        'Path of the seccomp profile, relative to the seccomp directory of the kubelet. May only be set when mode is LocalhostProfile. Defaults to pressroom/chrome.json.',
      ),
  }),
  {
    rule: "!has(self.localhostProfile) || self.mode == 'LocalhostProfile'",
    message: 'localhostProfile may only be set when mode is LocalhostProfile',
    good: value => value.localhostProfile === undefined || value.mode === 'LocalhostProfile',
  },
).describe(
  "Configures Chrome's sandbox. Independently of it, worker pods run as non-root, without capabilities and with a read-only root file system.",
);

const probe = (kind: string) =>
  embedded()
    .optional()
    .describe(
      `Fields of the ${kind} probe of the worker container. They replace the defaults, such as periodSeconds.`,
    );

const template = z
  .object({
    image: z.string().min(1).max(1024).describe('The worker image, by tag or by digest.'),
    imagePullPolicy: z
      .enum(['Always', 'IfNotPresent', 'Never'])
      .optional()
      .describe('Image pull policy. Defaults to that of Kubernetes.'),
    imagePullSecrets: listOf(
      z.object({ name: z.string().min(1).max(253).describe('Name of the Secret.') }),
      ['name'],
      16,
    )
      .optional()
      .describe('Image pull secrets.'),
    resources: embedded()
      .optional()
      .describe(
        'Resource requests and limits of the worker container. Each slot runs its own Chrome, which needs half a CPU under load, 100 MiB of memory while idle, about 200 MiB for an ordinary page, and up to PRESSROOM_RENDER_MEMORY (1 GiB by default) plus 512 MiB in the worst case. The worker process itself needs 512 MiB.',
      ),
    env: withRules(arrayOf(named(), 200), {
      rule: `self.all(variable, !(variable.name in [${CONTROLLER_VARIABLES.map(name => `'${name}'`).join(', ')}]))`,
      message: `must not contain variables that the controller sets: ${CONTROLLER_VARIABLES.join(', ')}`,
      good: variables => !variables.some(({ name }) => CONTROLLER_VARIABLES.includes(name)),
    })
      .optional()
      .describe('Additional environment variables of the worker container.'),
    envFrom: arrayOf(embedded(), 50)
      .optional()
      .describe('Additional environment variables from ConfigMaps and Secrets.'),
    labels: textMap().optional().describe('Additional labels for the pods.'),
    annotations: textMap().optional().describe('Additional annotations for the pods.'),
    nodeSelector: textMap().optional().describe('Node selector of the pods.'),
    affinity: embedded().optional().describe('Affinity rules of the pods.'),
    tolerations: arrayOf(embedded(), 50).optional().describe('Tolerations of the pods.'),
    topologySpreadConstraints: arrayOf(embedded(), 20)
      .optional()
      .describe(
        'Topology spread constraints of the pods. A constraint without labelSelector selects the pods of this pool. By default, pods are spread across nodes on a best-effort basis.',
      ),
    priorityClassName: z.string().max(253).optional().describe('Priority class of the pods.'),
    runtimeClassName: z.string().max(253).optional().describe('Runtime class of the pods.'),
    serviceAccountName: z
      .string()
      .max(253)
      .optional()
      .describe(
        'Service account of the pods. Its token is never mounted: workers do not use the Kubernetes API.',
      ),
    podSecurityContext: embedded()
      .optional()
      .describe(
        'Security context of the pods. It replaces the default user, group and fsGroup 10001. The controller always sets runAsNonRoot, and seccompProfile from chromeSandbox.',
      ),
    securityContext: embedded()
      .optional()
      .describe(
        'Additional fields of the security context of the worker container, such as seLinuxOptions. The controller always sets allowPrivilegeEscalation, readOnlyRootFilesystem and capabilities, and ignores runAsNonRoot and seccompProfile.',
      ),
    volumes: arrayOf(named(), 50)
      .optional()
      .describe('Additional volumes of the pods, such as TLS certificates of the gateway.'),
    volumeMounts: arrayOf(named(), 50)
      .optional()
      .describe('Additional volume mounts of the worker container.'),
    initContainers: arrayOf(named(), 20).optional().describe('Init containers of the pods.'),
    containers: arrayOf(named(), 20)
      .optional()
      .describe('Additional containers of the pods, beside the container worker.'),
    dnsConfig: embedded().optional().describe('DNS configuration of the pods.'),
    hostAliases: arrayOf(embedded(), 100).optional().describe('Entries of /etc/hosts in the pods.'),
    lifecycle: embedded()
      .optional()
      .describe(
        'Lifecycle handlers of the worker container. The termination grace period includes the time of preStop.',
      ),
    startupProbe: probe('startup'),
    livenessProbe: probe('liveness'),
    readinessProbe: probe('readiness'),
    scratchSizeLimit: z
      .string()
      .regex(/^[1-9][0-9]*(Ki|Mi|Gi)$/)
      .optional()
      .describe(
        'Size limit of the /tmp volume, which holds the Chrome profiles. Defaults to 512 MiB plus 256 MiB per slot.',
      ),
    terminationGracePeriodSeconds: count(10, 3600, 180).describe(
      'Termination grace period in seconds. A terminating pod has this long to finish its renders.',
    ),
    chromeSandbox: chromeSandbox.prefault({}),
  })
  .describe('Template of the worker pods.');

export const specSchema = z
  .object({
    slotsPerPod: count(1, 256, 2).describe(
      'Number of concurrent renders per pod, each in its own Chrome. Use about one slot per CPU, and at least two. A slot takes 8 processes with 65 threads, and more while a page runs web workers. If the kubelet limits process IDs per pod (podPidsLimit), allow 150 per slot plus 100.',
    ),
    replicas: z
      .int()
      .min(0)
      .max(1000)
      .optional()
      .describe('Fixed number of pods. If set, autoscaling is disabled and scaling is ignored.'),
    paused: z
      .boolean()
      .default(false)
      .describe(
        'Pauses reconciliation: the controller does not change or remove any object of the pool. The status is still updated.',
      ),
    poolSecret: z
      .object({
        name: z
          .string()
          .min(1)
          .max(253)
          .describe('Name of the Secret, in the namespace of the pool.'),
        key: z.string().min(1).max(253).default('pool-secret').describe('Key in the Secret.'),
        mountAsFile: z
          .boolean()
          .optional()
          .describe(
            'Mounts the secret as a file for PRESSROOM_POOL_SECRET_FILE instead of an environment variable.',
          ),
      })
      .describe(
        'The pool secret, with which the API signs its tickets. The API and the workers of a pool must use the same secret.',
      ),
    scaling: scalingSchema.prefault({}),
    maxUnavailable: withRules(
      z.union([z.int(), z.string()]).meta({ 'x-kubernetes-int-or-string': true }),
      {
        rule: "type(self) == int ? self >= 1 : self.matches('^[1-9][0-9]?%$')",
        message: 'must be an integer of at least 1, or a percentage from 1% to 99%',
        good: value => (typeof value === 'number' ? value >= 1 : /^[1-9][0-9]?%$/.test(value)),
      },
    )
      .default('25%')
      .describe(
        'Maximum number or percentage of pods that voluntary disruptions, such as node drains, may make unavailable at once (PodDisruptionBudget).',
      ),
    template,
  })
  .describe('Desired state of the pool.');

const condition = z.object({
  type: z.string().max(316).describe('Type of the condition.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition.'),
  observedGeneration: z
    .int()
    .optional()
    .describe('The generation of the pool that the condition is based on.'),
  lastTransitionTime: z.iso.datetime().describe('Time when the status last changed.'),
  reason: z.string().max(1024).describe('Machine-readable reason for the status, in CamelCase.'),
  message: z.string().max(32_768).describe('Human-readable details about the status.'),
});

/** The conditions that the controller sets, each with the meaning of True. */
export const CONDITIONS = {
  Ready: 'The desired number of pods is ready and up to date with the spec.',
  ScalingActive:
    'The autoscaler controls the number of pods. False if the number is fixed, the pool is paused, or the load is unknown.',
  ScalingLimited: 'The load needs more or fewer pods than the limits allow.',
  MetricsAvailable:
    'Prometheus reports the load. If False, the number of pods is kept until it does. The reason ScrapedTooRarely means that bursts may be detected too late.',
  ChromeSandboxed: "Chrome's sandbox is on in all running pods.",
} as const;
export type ConditionType = keyof typeof CONDITIONS;

export const statusSchema = z
  .object({
    observedGeneration: z
      .int()
      .optional()
      .describe('The generation of the pool that the controller last processed.'),
    desiredReplicas: z.int().optional().describe('Desired number of pods.'),
    replicas: z.int().optional().describe('Number of pods.'),
    readyReplicas: z.int().optional().describe('Number of ready pods.'),
    updatedReplicas: z
      .int()
      .optional()
      .describe('Number of pods created from the current template.'),
    busySlots: z.int().optional().describe('Number of busy slots at the last Prometheus query.'),
    queuedRenders: z
      .int()
      .optional()
      .describe('Number of queued renders at the last Prometheus query.'),
    selector: z
      .string()
      .optional()
      .describe('Label selector of the pods, for the scale subresource.'),
    lastScaleTime: z.iso
      .datetime()
      .optional()
      .describe('Time when the desired number of pods last changed.'),
    lastScaleReason: z
      .string()
      .optional()
      .describe('Reason for the last change of the desired number of pods.'),
    conditions: listOf(condition, ['type'], 16)
      .optional()
      .describe(
        `Conditions of the pool. ${Object.entries(CONDITIONS)
          .map(([type, meaning]) => `${type}: ${meaning}`)
          .join(' ')}`,
      ),
  })
  .describe('Observed state of the pool. Written by the controller only.');

export type BrowserPoolSpec = z.output<typeof specSchema>;
/** The spec before the API server sets the defaults. */
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
    deletionTimestamp?: string;
  };
  spec: BrowserPoolSpec;
  status?: BrowserPoolStatus;
}
