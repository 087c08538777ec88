// The chart's values of what surrounds the service: secrets, MongoDB, networks, metrics, alerts,
// boards.
import { z } from 'zod';
import {
  countValue,
  flag,
  group,
  imageOf,
  listValue,
  object,
  resources,
  secretEntry,
  stringValue,
  textMapValue,
  words,
} from './parts.ts';

export const secretsValues = group({
  pepper: secretEntry('pepper', 'the pepper of the keys (at least 16 characters)').describe(
    'Keys are stored as an HMAC with it. Without a Secret of yours one is made once and never changed.',
  ),
  previousPepper: secretEntry('pepper-previous', 'the pepper before').describe(
    'Still accepted while the pepper is being changed. Default: the Secret of `pepper`; it need not be there.',
  ),
  poolSecret: secretEntry(
    'pool-secret',
    'the secret of the pool (at least 16 characters)',
  ).describe(
    'The API signs the tickets for its workers with it. Without a Secret of yours one is made once and never changed.',
  ),
  dashboard: secretEntry(
    'dashboard-secret',
    'the secret of the dashboard (at least 16 characters)',
  ).describe(
    'Seals what the dashboard must read again, such as secrets of one-time codes. Without a Secret of yours one is made once and never changed; it is added to a Secret that an earlier version of this chart made.',
  ),
  adminPassword: secretEntry(
    'admin-password',
    'the password of the first administrator (at least 12 characters)',
  ).describe(
    'With `PRESSROOM_ADMIN_EMAIL` in `api.config`. Without it the first administrator is made by a command, or by the link in the log.',
  ),
  oidcClientSecret: secretEntry(
    'oidc-client-secret',
    'the secret of Pressroom as a client of your OpenID provider',
  ).describe('With `PRESSROOM_OIDC_ISSUER` and `PRESSROOM_OIDC_CLIENT_ID` in `api.config`.'),
  stripeSecretKey: secretEntry(
    'stripe-secret-key',
    'a secret or restricted key of Stripe',
  ).describe('With `PRESSROOM_BILLING: stripe` in `api.config`.'),
  stripeWebhookSecret: secretEntry(
    'stripe-webhook-secret',
    'the secret that signs what Stripe sends',
  ).describe('With `PRESSROOM_BILLING: stripe` in `api.config`.'),
}).describe(
  'What must stay secret. What is made is in the Secret `<release>-secrets`, which outlives the release.',
);

export const mongodbValues = group({
  uri: stringValue().describe(
    'Its address with user and password. It is kept in a Secret; better have that made by others, see `existingSecret`.',
  ),
  ...secretEntry('mongodb-uri', 'the address').def.innerType.shape,
  bundled: group({
    enabled: flag(false).describe(
      'FOR TRIALS: a single member without a backup and without failover.',
    ),
    image: imageOf('mongo', 'MongoDB')
      .prefault({ tag: '8.0' })
      .describe('The image of MongoDB. It must have `mongod` and `sh`.'),
    storage: group({
      enabled: flag(true).describe('Whether data outlive the pod. They outlive the release too.'),
      size: stringValue('8Gi').describe('Size of the volume.'),
      storageClass: stringValue().describe("Its class. Default: the cluster's."),
    }).describe('Where its data lie.'),
    resources: resources({ cpu: '250m', memory: '512Mi' }, { memory: '1Gi' }),
  }).describe('A MongoDB of this release.'),
}).describe(
  'The MongoDB replica set (6.0 or newer): one of `uri`, `existingSecret` and `bundled`.',
);

const peers = (fallback: Record<string, unknown>[]) => listValue().default(fallback);
const ports = (...fallback: number[]) => z.array(z.int().min(1).max(65_535)).default(fallback);
const anywhere = 'As in a NetworkPolicy. Empty: anywhere, on these ports.';

const kubeDns = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
  podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
};

export const networkPolicyValues = group({
  enabled: flag(true).describe(
    'Whether there are NetworkPolicies. They act only where the network of the cluster knows them.',
  ),
  monitoring: peers([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
  ]).describe(
    'Who reads the metrics on port 9090 of all pods, as in a NetworkPolicy: the pods of Prometheus.',
  ),
  prometheus: group({
    to: peers([]).describe('Where the controller finds Prometheus. Default: `monitoring`.'),
    ports: ports(9090).describe('Its ports, as its pods have them.'),
  }).describe('The way to Prometheus.'),
  dns: group({
    to: peers([kubeDns]).describe(
      'Where the name servers of the cluster are. Where each node has one of its own, add its address, such as `ipBlock: {cidr: 169.254.20.10/32}`.',
    ),
    ports: ports(53).describe('Their ports, as their pods have them.'),
  }).describe('The way to name servers.'),
  mongodb: group({
    to: peers([]).describe(`Where MongoDB is. ${anywhere}`),
    ports: ports(27017).describe('Its ports.'),
  }).describe('The way to MongoDB.'),
  kubernetesApi: group({
    to: peers([]).describe(`Where the API server of the cluster is. ${anywhere}`),
    ports: ports(443, 6443).describe('Its ports.'),
  }).describe("The way to the cluster's API server."),
  companySignIn: group({
    to: peers([]).describe(`Where your OpenID provider is. ${anywhere}`),
    ports: ports(443).describe('Its ports.'),
  }).describe('The way to the OpenID provider, when `api.config` names one.'),
  stripe: group({
    to: peers([]).describe(
      'Where Stripe is, or your proxy of it. As in a NetworkPolicy. Empty: all public addresses, on these ports.',
    ),
    ports: ports(443).describe('Its ports.'),
  }).describe('The way to Stripe, when `api.config` bills by it.'),
  appDocuments: group({
    to: peers([]).describe(
      'Where the documents are. As in a NetworkPolicy. Empty: all public addresses, on these ports.',
    ),
    ports: ports(443).describe('Their ports.'),
  }).describe(
    'The way of the API to the documents in which chat programs describe themselves, unless `api.config` switches them off (`PRESSROOM_MCP_CIMD`, `PRESSROOM_MCP`, `PRESSROOM_DASHBOARD`).',
  ),
  api: group({
    from: peers([]).describe('Who may call the API, as in a NetworkPolicy. Empty: everybody.'),
    extraEgress: listValue()
      .default([])
      .describe('More rules of what the API may reach, as in a NetworkPolicy.'),
  }).describe('More of the API.'),
  worker: group({
    extraEgress: listValue()
      .default([])
      .describe('More rules of what the workers may reach, as in a NetworkPolicy.'),
  }).describe('More of the workers.'),
  controller: group({
    extraEgress: listValue()
      .default([])
      .describe('More rules of what the controller may reach, as in a NetworkPolicy.'),
  }).describe('More of the controller.'),
}).describe('Who may speak to whom. Workers reach name servers and public addresses only.');

export const prometheusValues = group({
  url: stringValue('http://prometheus-operated.monitoring.svc:9090').describe(
    'The Prometheus that the controller asks for the load. It must scrape the API and the workers.',
  ),
  token: secretEntry('token', 'a Bearer token for it').describe(
    'How the controller logs in there.',
  ),
}).describe('Prometheus.');

export const podMonitorValues = group({
  enabled: flag(false).describe(
    'Whether there are PodMonitors for API, workers and controller. They need the Prometheus operator.',
  ),
  interval: stringValue('5s').describe('How often workers and the controller are asked.'),
  apiInterval: stringValue('2s').describe(
    'How often the pods of the API are asked: they are few, and tell of the queue. The autoscaler notices a burst after one to two of these. More than half of PRESSROOM_QUEUE_TIMEOUT is too long: renders of a burst fail before the pool has grown.',
  ),
  labels: textMapValue().describe(
    'Labels by which your Prometheus selects them, such as `release: kube-prometheus-stack`.',
  ),
}).describe('How Prometheus finds the pods.');

const ratio = (fallback: number) => z.number().gt(0).lt(1).default(fallback);
const bound = (bounds: number[], fallback: number) => z.literal(bounds).default(fallback);

export const alertsValues = group({
  enabled: flag(false).describe(
    'Whether there is a PrometheusRule with recording rules and alerts. It needs the Prometheus operator.',
  ),
  labels: textMapValue().describe('Labels by which your Prometheus selects the rule.'),
  alertLabels: textMapValue().describe('Labels that every alert gets, for its way to people.'),
  disabled: words().describe('Names of alerts that are left out.'),
  runbookUrl: stringValue().describe(
    'Where `runbook.md` of this chart can be read: each alert links to its section. Empty: the page that the API of this release serves at /docs/runbook.',
  ),
  availabilityObjective: ratio(0.999).describe(
    'Share of renders that the service itself must not fail.',
  ),
  queueWaitObjective: ratio(0.99).describe(
    'Share of renders that must wait no longer than `queueWaitSeconds`.',
  ),
  queueWaitSeconds: bound([0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30], 1).describe(
    'The longest wait for a slot that is well.',
  ),
  renderTimeObjective: ratio(0.95).describe(
    "Share of renders that must take no longer than `renderTimeSeconds`, the page's own waits included.",
  ),
  renderTimeSeconds: bound([0.5, 1, 2.5, 5, 10, 30, 60], 10).describe(
    'The longest render that is well.',
  ),
}).describe('Alerts, and the objectives that they watch over.');

export const dashboardsValues = group({
  enabled: flag(false).describe("Whether there are ConfigMaps with Grafana's boards."),
  labels: textMapValue({ grafana_dashboard: '1' }).describe(
    "Labels by which Grafana's sidecar finds them.",
  ),
  annotations: textMapValue().describe('Their annotations, such as the folder.'),
}).describe('Boards for Grafana.');

export const caBundleValues = group({
  configMap: stringValue().describe('Name of a ConfigMap that holds it.'),
  secret: stringValue().describe('Name of a Secret that holds it instead.'),
  key: stringValue('ca.crt').describe('Which of its entries.'),
}).describe(
  'Certificate authorities of your own, in PEM, besides the usual ones: for the connections of the API to MongoDB, of the controller to Prometheus, and of pages, also through a proxy that opens TLS.',
);

export const testValues = group({
  ...secretEntry('key', 'a key of an account').def.innerType.shape,
  timeoutSeconds: countValue(180, 10, 3_600).describe(
    'How long it tries, while the first workers start.',
  ),
}).describe(
  '`helm test` renders a page. Without a key it makes a trial render, which must not be switched off then.',
);

export const podSecurityContext = object()
  .default({ runAsUser: 10_001, runAsGroup: 10_001, fsGroup: 10_001 })
  .describe(
    'As in a pod, for all pods but the workers. What pod security `restricted` asks for is always added.',
  );
