// The chart's values of the pool of workers: what they become in a BrowserPool, and what its pages
// may reach.
import { z } from 'zod';
import { processVariables } from '../../common/config.ts';
import { scalingSchema, specSchema } from '../../crds/browser-pool.ts';
import { workerVariables } from '../../worker/config.ts';
import { configValues } from './config-values.ts';
import {
  countValue,
  flag,
  group,
  object,
  podValues,
  resources,
  secretEntry,
  stringValue,
  words,
} from './parts.ts';

/** Those that other values or the controller decide on. */
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
const { scratchSizeLimit } = template.shape;
const describing = (field: z.ZodType) => z.toJSONSchema(field, { io: 'input' }).description ?? '';

const sandbox = group({
  mode: z
    .enum(['LocalhostProfile', 'Unconfined', 'Off'])
    .default('LocalhostProfile')
    .describe(
      "LocalhostProfile: Chrome's own sandbox, by the seccomp profile `files/seccomp/chrome.json` that must lie on each node (`seccompInstaller`, or your own way); pod security `restricted` accepts it. Unconfined: Chrome's own sandbox without any seccomp filter around the pod; pod security `restricted` and `baseline` refuse it. Off: the runtime's default filter, and no sandbox in Chrome: a page that breaks out of its renderer has the whole pod.",
    ),
  localhostProfile: z
    .string()
    .regex(/^\w[\w.-]*(\/\w[\w.-]*)*$/)
    .default('pressroom/chrome.json')
    .describe("The profile's path below the kubelet's seccomp folder."),
}).describe(
  "How Chrome is confined, on top of the pod's own limits (no root, no capabilities, a read-only file system).",
);

/** The whole of scaling, each field optional: the API server puts the defaults in. */
const scaling = z
  .strictObject(
    Object.fromEntries(
      Object.entries(scalingSchema.shape).map(([name, type]) => [name, strict(type as z.ZodType)]),
    ),
  )
  .default({ minReplicas: 1, maxReplicas: 10, targetUtilizationPercent: 70 })
  .describe(
    'The autoscaler, as in a BrowserPool (`kubectl explain browserpool.spec.scaling`). What is not said here has the defaults that are told there.',
  );

/**
 * Objects within refuse what they do not know, as the whole chart does; nothing gets a default
 * here.
 */
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
    'Whether this release brings a BrowserPool. Without one, `pool.name` must name a pool of yours in the same namespace.',
  ),
  name: stringValue().describe('Name of the pool. Default: that of the release.'),
  slotsPerPod,
  replicas: z
    .int()
    .min(0)
    .max(1000)
    .optional()
    .describe('A fixed number of pods. It switches the autoscaler off.'),
  paused,
  scaling,
  maxUnavailable: z
    .union([z.int(), z.string()])
    .default('25%')
    .describe(describing(maxUnavailable)),
  config: configValues(
    z.object({ ...processVariables.shape, ...workerVariables.shape }),
    WORKER_ELSEWHERE,
  ).describe(
    'More environment variables of the workers under their own names, such as `PRESSROOM_RENDER_MEMORY: 2GiB`. All of them: docs/configuration.md.',
  ),
  resources: object()
    .default({})
    .describe(
      'Requests and limits of a worker. Each slot has a Chrome of its own, so what is not set here follows from `slotsPerPod`. CPU request: 500m × slots. Memory request: 512 MiB + 256 MiB × slots. Memory limit: 1 GiB + (512 MiB + `PRESSROOM_RENDER_MEMORY` of `config`, 1 GiB by default) × slots. With 2 slots these are 1 CPU, 1 GiB and 4 GiB; with 8 slots 4 CPU, 2.5 GiB and 13 GiB. With a memory limit but no memory request set here, the request is 1 GiB. Ephemeral storage request: `scratchSizeLimit`.',
    ),
  terminationGracePeriodSeconds: countValue(180, 10, 3_600).describe(
    'How long a worker that is told to stop may take to finish its renders.',
  ),
  scratchSizeLimit: stringValue().describe(describing(scratchSizeLimit)),
  chromePerAccount: flag(false).describe(
    "Whether a slot's Chrome is restarted before it renders for another account, so that no browser process ever serves two. A slot that changes accounts is away for the time of a start of Chrome.",
  ),
  chromeSandbox: sandbox,
  serviceAccountName: stringValue().describe(
    'The service account of the workers. Its token is never mounted.',
  ),
  runtimeClassName: stringValue().describe('As in a pod.'),
  ...podValues(),
}).describe(
  'The pool of workers, which the controller makes a Deployment, a Service and a PodDisruptionBudget of.',
);

export const egressValues = group({
  allow: words().describe(
    'Addresses that are not public but may be opened, only by accounts marked `intranet`, such as `wiki.corp`, `*.corp.example:8443`, `10.1.0.0/16`. CIDRs are opened in the NetworkPolicy too; for host names put their networks into `networkPolicy.worker.extraEgress`.',
  ),
  deny: words().describe(
    'Networks closed to pages besides those that are not public: your own public ranges, and NAT64 and 6rd prefixes of your network. The API fetches no document of an app from them either.',
  ),
  ports: z
    .array(z.int().min(1).max(65_535))
    .min(1)
    .default([80, 443, 8080, 8443])
    .describe('Ports that a page may connect to.'),
  dnsServers: words().describe(
    'Name servers for the pages, each with an optional `:port`. Default: those of the cluster. Others need `networkPolicy.dns`.',
  ),
  proxy: group({
    ...secretEntry('proxy-url', 'the address of the proxy, `http://user:password@proxy.corp:3128`')
      .def.innerType.shape,
    cidr: stringValue().describe(
      'Its network, such as `10.20.30.40/32`, for the NetworkPolicy: the workers then reach it instead of public addresses.',
    ),
    port: countValue(3128, 1, 65_535).describe('Its port, for the NetworkPolicy.'),
  }).describe('A proxy of your company through which all pages are fetched.'),
}).describe(
  'What pages may reach. The same for the API, which refuses early, and the workers, which hold it.',
);

export const seccompInstallerValues = group({
  enabled: flag(false).describe(
    'Whether a DaemonSet puts the profile on each node. It runs as root with a folder of the node, in a namespace of its own that pod security does not restrict.',
  ),
  namespace: stringValue('pressroom-seccomp').describe('That namespace.'),
  createNamespace: flag(true).describe(
    'Whether it is made and removed with the release. Where it is to hold more, such as the Secrets of `image.pullSecrets` for a private registry, make it yourself before, with the label `pod-security.kubernetes.io/enforce: privileged`.',
  ),
  kubeletFolder: stringValue('/var/lib/kubelet').describe("The kubelet's folder on the nodes."),
  nodeSelector: z
    .record(z.string(), z.string())
    .default({})
    .describe('Nodes that get it. Default: all.'),
  tolerations: z
    .array(object())
    .default([{ operator: 'Exists' }])
    .describe('As in a pod.'),
  seLinuxOptions: object()
    .default({})
    .describe('As in a container: where SELinux is enforced, `type: spc_t` lets it write.'),
  resources: resources(
    { cpu: '1m', memory: '16Mi', 'ephemeral-storage': '1Mi' },
    { memory: '64Mi' },
  ),
}).describe(
  'Puts the seccomp profile for Chrome on the nodes. One release in the cluster is enough.',
);
