// The chart's values for the BrowserPool, the egress of pages and the seccomp installer.
import { z } from 'zod';
import { scalingSchema, specSchema } from '../../crds/browser-pool.ts';
import { workerVariables } from '../../worker/config.ts';
import { configValues } from './config-values.ts';
import { type ValueRelation, withRelations } from './formats.ts';
import {
  choiceValue,
  countValue,
  flag,
  group,
  listIn,
  listValue,
  objectValue,
  podMetadata,
  podValues,
  resources,
  resourceValues,
  secretFields,
  stringValue,
  textIn,
  textMapValue,
  unavailableValue,
} from './parts.ts';

/** Variables that the controller sets, or the chart from other values. */
export const WORKER_ELSEWHERE = [
  'PRESSROOM_OPERATIONS_PORT',
  'PRESSROOM_DRAIN_TIMEOUT',
  'PRESSROOM_GATEWAY_PORT',
  'PRESSROOM_GATEWAY_TLS_CERT',
  'PRESSROOM_GATEWAY_TLS_KEY',
  'PRESSROOM_GATEWAY_TLS_CLIENT_CA',
  'PRESSROOM_POOL',
  'PRESSROOM_SLOTS',
  'PRESSROOM_CHROME_SANDBOX',
  'PRESSROOM_CHROME_UID',
  'PRESSROOM_CHROME_PER_ACCOUNT',
  'PRESSROOM_EGRESS_ALLOW',
  'PRESSROOM_EGRESS_DENY',
  'PRESSROOM_EGRESS_PORTS',
  'PRESSROOM_EGRESS_CA',
  'PRESSROOM_DNS_SERVERS',
];

const { slotsPerPod, paused, maxUnavailable, template } = specSchema.shape;
const { scratchSizeLimit, podSecurityContext, securityContext } = template.shape;
const describing = (field: z.ZodType) => z.toJSONSchema(field, { io: 'input' }).description ?? '';

const sandbox = group({
  mode: choiceValue(['LocalhostProfile', 'Unconfined', 'Off'], 'LocalhostProfile').describe(
    "LocalhostProfile: Chrome's sandbox is on. Requires the seccomp profile `files/seccomp/chrome.json` on each node; `seccompInstaller` can install it. Allowed by the Pod Security Standard `restricted`. Unconfined: Chrome's sandbox is on and the pod has no seccomp profile. Not allowed by the Pod Security Standards `baseline` and `restricted`. Off: Chrome's sandbox is off and the pod has the runtime's default seccomp profile. A page that exploits a flaw in Chrome's renderer can take over the pod.",
  ),
  localhostProfile: textIn('profilePath', 'pressroom/chrome.json').describe(
    'Path of the seccomp profile, relative to the seccomp directory of the kubelet.',
  ),
}).describe(
  "Chrome's sandbox. Independently of it, worker pods run as non-root, without capabilities and with a read-only root file system.",
);

/** `spec.scaling` with all fields optional: the API server sets the defaults. */
const scaling = withRelations(
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(scalingSchema.shape).map(([name, type]) => [
          name,
          strict(type as z.ZodType),
        ]),
      ),
    )
    .default({ minReplicas: 1, maxReplicas: 10, targetUtilizationPercent: 70 }),
  ...scalingRelations(),
).describe(
  'Autoscaling (`spec.scaling` of the BrowserPool). For all fields and their defaults, run `kubectl explain browserpool.spec.scaling --recursive`.',
);

/** The relations that the API server checks, with the defaults that it sets. */
function scalingRelations(): ValueRelation[] {
  const { 'x-kubernetes-validations': rules } = scalingSchema.meta() as {
    'x-kubernetes-validations': { rule: string }[];
  };
  const defaults = scalingSchema.parse({}) as Record<string, unknown>;
  return rules.map(({ rule }) => {
    const [, smaller, larger] = /^self\.(\w+) <= self\.(\w+)$/.exec(rule) ?? [];
    if (smaller === undefined || larger === undefined)
      throw new Error(`the chart cannot check the rule ${rule}`);
    const both = [smaller, larger].map(name => [name, defaults[name]]);
    return { smaller, larger, defaults: Object.fromEntries(both) };
  });
}

/** The type without defaults; nested objects reject unknown fields, as the whole chart does. */
function strict(type: z.ZodType): z.ZodType {
  const description = describing(type);
  let inner = type;
  while (
    inner instanceof z.ZodDefault ||
    inner instanceof z.ZodPrefault ||
    inner instanceof z.ZodOptional
  )
    inner = inner.unwrap() as z.ZodType;
  const plain =
    inner instanceof z.ZodObject
      ? z.strictObject(
          Object.fromEntries(
            Object.entries(inner.shape).map(([name, each]) => [name, strict(each as z.ZodType)]),
          ),
        )
      : inner;
  return plain.optional().describe(description);
}

export const poolValues = group({
  enabled: flag(true).describe(
    'Create a BrowserPool. If false, set `pool.name` to an existing BrowserPool in the same namespace.',
  ),
  name: stringValue().describe('Name of the BrowserPool. Defaults to the release name.'),
  slotsPerPod,
  replicas: z
    .int()
    .min(0)
    .max(1000)
    .optional()
    .describe('Fixed number of worker pods. Disables autoscaling.'),
  paused,
  scaling,
  maxUnavailable: unavailableValue('25%').describe(describing(maxUnavailable)),
  config: configValues(workerVariables, WORKER_ELSEWHERE).describe(
    'Configuration of the workers as environment variables, such as `PRESSROOM_RENDER_MEMORY: 2GiB`. For the full list, see docs/configuration.md.',
  ),
  resources: resourceValues().describe(
    'Resource requests and limits of a worker. The defaults depend on `slotsPerPod`, because each slot runs its own Chrome. CPU request: 500m × slots. Memory request: 512 MiB + 256 MiB × slots. Memory limit: 1 GiB + (512 MiB + `PRESSROOM_RENDER_MEMORY`, 1 GiB by default) × slots. With 2 slots: 1 CPU, 1 GiB and 4 GiB. With 8 slots: 4 CPUs, 2.5 GiB and 13 GiB. If you set only a memory limit, the memory request is 1 GiB. The ephemeral storage request is `scratchSizeLimit`.',
  ),
  terminationGracePeriodSeconds: countValue(180, 10, 3_600).describe(
    'Termination grace period. A terminating worker has this long to finish its renders.',
  ),
  scratchSizeLimit: textIn('poolSize').describe(describing(scratchSizeLimit)),
  chromePerAccount: flag(false).describe(
    'Restart the Chrome of a slot before it renders for another account, so that no browser process is shared between accounts. The slot is unavailable while Chrome restarts.',
  ),
  chromeSandbox: sandbox,
  serviceAccountName: stringValue().describe(
    'Name of an existing service account for the workers. If empty, the chart creates `<pool>-workers`. Its token is never mounted.',
  ),
  podSecurityContext: objectValue().describe(describing(podSecurityContext)),
  securityContext: objectValue().describe(describing(securityContext)),
  runtimeClassName: stringValue().describe('Runtime class of the pods.'),
  ...podValues(),
}).describe(
  'The BrowserPool: the controller creates a Deployment, a headless Service and a PodDisruptionBudget for it.',
);

export const autoscalingValues = group({
  mode: choiceValue(['controller', 'hpa', 'keda', 'none'], 'controller').describe(
    'controller: the controller of Pressroom. hpa: a HorizontalPodAutoscaler on the external metric `pressroom_pool_load`, which requires a metrics adapter. keda: a ScaledObject with a Prometheus trigger, which requires KEDA and `prometheus.url`. none: `pool.replicas` workers, or `pool.scaling.minReplicas`. All but controller create the workers as a plain Deployment, without the BrowserPool, the controller and their permissions. See docs/kubernetes.md.',
  ),
}).describe(
  'What scales the workers. Of `pool.scaling`, hpa and keda use only `minReplicas`, `maxReplicas` and `targetUtilizationPercent`.',
);

export const egressValues = group({
  allow: listIn('egressTarget').describe(
    'Private addresses that accounts marked `intranet` may reach, such as `wiki.corp`, `*.corp.example:8443` or `10.1.0.0/16`. CIDRs are also allowed by the NetworkPolicy. For hostnames, add their networks to `networkPolicy.worker.extraEgress`.',
  ),
  deny: listIn('network').describe(
    'Networks to block in addition to all non-public addresses, such as your own public ranges, and the NAT64 and 6rd prefixes of your network. Also applies to the client metadata documents that the API fetches.',
  ),
  ports: z
    .array(z.int().min(1).max(65_535))
    .min(1)
    .default([80, 443, 8080, 8443])
    .describe('Ports that pages may connect to.'),
  dnsServers: listIn('nameServer').describe(
    'DNS servers for pages, each with an optional `:port`. Defaults to cluster DNS. Allow other servers in `networkPolicy.dns`.',
  ),
  proxy: group({
    ...secretFields('proxy-url', 'the proxy URL, such as `http://user:password@proxy.corp:3128`'),
    cidr: textIn('cidr').describe(
      'CIDR of the proxy for the NetworkPolicy, such as `10.20.30.40/32`. Workers can then reach the proxy instead of public addresses.',
    ),
    port: countValue(3128, 1, 65_535).describe('Port of the proxy for the NetworkPolicy.'),
  }).describe('HTTP proxy for all pages.'),
}).describe(
  'Egress of pages. The workers enforce these rules; the API uses the same rules to reject requests early.',
);

export const seccompInstallerValues = group({
  enabled: flag(false).describe(
    'Create a DaemonSet that installs the profile on each node. Its pods run as root and mount the seccomp directory of the node. They need a separate namespace with the Pod Security Standard `privileged`.',
  ),
  namespace: textIn('namespace', 'pressroom-seccomp').describe('Namespace of the DaemonSet.'),
  createNamespace: flag(true).describe(
    'Create the namespace with the release and delete it on uninstall. If the namespace needs other objects first, such as the Secrets of `image.pullSecrets`, set this to false and create it yourself with the label `pod-security.kubernetes.io/enforce: privileged`.',
  ),
  kubeletFolder: stringValue('/var/lib/kubelet').describe(
    'Root directory of the kubelet on the nodes.',
  ),
  nodeSelector: textMapValue().describe('Node selector of the DaemonSet. Defaults to all nodes.'),
  ...podMetadata(),
  tolerations: listValue([{ operator: 'Exists' }]).describe('Tolerations of the DaemonSet.'),
  seLinuxOptions: objectValue().describe(
    'SELinux options of the container. On nodes that enforce SELinux, set `type: spc_t` to allow writing the profile.',
  ),
  resources: resources(
    { cpu: '1m', memory: '16Mi', 'ephemeral-storage': '1Mi' },
    { memory: '64Mi' },
  ),
}).describe(
  "Installs the seccomp profile for Chrome's sandbox on the nodes. Enable it in one release per cluster.",
);
