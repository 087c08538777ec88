// The chart's values for the surroundings of the service: secrets, MongoDB, network policies,
// monitoring, CA certificates, `helm test`.
import { z } from 'zod';
import { withChecks } from './formats.ts';
import {
  countValue,
  flag,
  group,
  imageOf,
  listValue,
  objectValue,
  podMetadata,
  resources,
  secretEntry,
  secretFields,
  stringList,
  stringValue,
  textIn,
  textMapValue,
} from './parts.ts';

export const secretsValues = group({
  mountAsFiles: flag(false).describe(
    'Mount secrets as files and set `NAME_FILE` instead of environment variables. Not with `mongodb.bundled.enabled`. `previousPepper` is then read only if its `existingSecret` is set. Does not change `extraEnv` and `extraEnvFrom`.',
  ),
  pepper: secretEntry('pepper', 'the API key pepper (at least 16 characters)').describe(
    'The pepper: API keys are stored as an HMAC with it. If `existingSecret` is empty, the chart generates it once and never changes it.',
  ),
  previousPepper: secretEntry('pepper-previous', 'the previous pepper').describe(
    'The previous pepper, accepted while you rotate the pepper. Defaults to the Secret of `pepper`. The key may be missing.',
  ),
  poolSecret: secretEntry('pool-secret', 'the pool secret (at least 16 characters)').describe(
    'The pool secret: the API signs the tickets for its workers with it. If `existingSecret` is empty, the chart generates it once and never changes it.',
  ),
  dashboard: secretEntry(
    'dashboard-secret',
    'the dashboard secret (at least 16 characters)',
  ).describe(
    'The dashboard secret: encrypts data such as the secrets of authenticator apps. If `existingSecret` is empty, the chart generates it once and never changes it. An upgrade from a chart version without a dashboard adds it to the existing Secret.',
  ),
  adminPassword: secretEntry(
    'admin-password',
    'the password of the first administrator (at least 12 characters)',
  ).describe(
    'Password of the first administrator. Requires `PRESSROOM_ADMIN_EMAIL` in `api.config`. Otherwise, create the administrator with the `pressroom admin create` command or with the link in the API log.',
  ),
  oidcClientSecret: secretEntry(
    'oidc-client-secret',
    'the client secret of Pressroom at your OpenID Connect provider',
  ).describe(
    'Client secret for SSO. Requires `PRESSROOM_OIDC_ISSUER` and `PRESSROOM_OIDC_CLIENT_ID` in `api.config`.',
  ),
  stripeSecretKey: secretEntry(
    'stripe-secret-key',
    'a secret or restricted Stripe API key',
  ).describe('Stripe API key. Requires `PRESSROOM_BILLING: stripe` in `api.config`.'),
  stripeWebhookSecret: secretEntry(
    'stripe-webhook-secret',
    'the signing secret of the Stripe webhook endpoint',
  ).describe(
    'Signing secret of the Stripe webhook. Requires `PRESSROOM_BILLING: stripe` in `api.config`.',
  ),
}).describe(
  'Secrets. Generated secrets are stored in the Secret `<release>-secrets`, which is not deleted when the release is uninstalled.',
);

export const mongodbValues = group({
  uri: textIn('mongodbUri').describe(
    'Connection string with user and password. The chart stores it in a Secret. For production, use `existingSecret` instead.',
  ),
  ...secretFields('mongodb-uri', 'the connection string'),
  bundled: group({
    enabled: flag(false).describe(
      'Deploy a single-member replica set. FOR EVALUATION ONLY: no backup, no failover.',
    ),
    image: imageOf('mongo', 'MongoDB')
      .prefault({ tag: '8.0' })
      .describe('The MongoDB image. It must contain `mongod` and `sh`.'),
    storage: group({
      enabled: flag(true).describe(
        'Store the data in a PersistentVolume. It is not deleted when the release is uninstalled.',
      ),
      size: textIn('quantity', '8Gi').describe('Size of the volume.'),
      storageClass: textIn('objectName').describe(
        "Storage class. Defaults to the cluster's default class.",
      ),
    }).describe('Storage for the data.'),
    resources: resources({ cpu: '100m', memory: '512Mi' }, { memory: '1Gi' }),
    ...podMetadata(),
  }).describe('A MongoDB instance deployed with this release.'),
}).describe(
  'The MongoDB replica set (6.0 or newer). Set exactly one of `uri`, `existingSecret` and `bundled.enabled`.',
);

const peers = (fallback: Record<string, unknown>[]) =>
  withChecks(listValue(fallback), { format: 'cidr', below: '*.ipBlock.cidr' });
const ports = (...fallback: number[]) => z.array(z.int().min(1).max(65_535)).default(fallback);
const ANY = 'any destination on these ports is allowed';
const PUBLIC = 'all public addresses on these ports are allowed';
const egressTo = (what: string, whenEmpty: string, ...fallback: number[]) =>
  group({
    to: peers([]).describe(`NetworkPolicy peers of ${what}. When empty, ${whenEmpty}.`),
    ports: ports(...fallback).describe(`Ports of ${what}.`),
  });
const extraEgress = listValue().describe('Additional egress rules.');

const kubeDns = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
  podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
};

export const networkPolicyValues = group({
  enabled: flag(true).describe(
    'Create NetworkPolicies. They have an effect only if the network plugin of the cluster enforces them.',
  ),
  monitoring: peers([
    { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
  ]).describe(
    'NetworkPolicy peers that may scrape metrics on port 9090 of all pods. Select the Prometheus pods.',
  ),
  prometheus: group({
    to: peers([]).describe('NetworkPolicy peers of Prometheus. Defaults to `monitoring`.'),
    ports: ports(9090).describe('Ports of the Prometheus pods.'),
  }).describe('Egress from the controller to Prometheus.'),
  dns: group({
    to: peers([kubeDns]).describe(
      'NetworkPolicy peers of the cluster DNS servers. With NodeLocal DNSCache, add its address, such as `ipBlock: {cidr: 169.254.20.10/32}`.',
    ),
    ports: ports(53).describe('Ports of the DNS pods.'),
  }).describe('Egress to DNS servers.'),
  mongodb: egressTo('MongoDB', ANY, 27017).describe('Egress from the API to MongoDB.'),
  kubernetesApi: egressTo('kube-apiserver', ANY, 443, 6443).describe(
    'Egress from the controller and the hook Jobs to kube-apiserver.',
  ),
  companySignIn: egressTo('the provider', ANY, 443).describe(
    'Egress from the API to the OpenID Connect provider, when `PRESSROOM_OIDC_ISSUER` is set in `api.config`.',
  ),
  stripe: group({
    to: peers([]).describe(
      `NetworkPolicy peers of Stripe, or of a proxy to it. When empty, ${PUBLIC}.`,
    ),
    ports: ports(443).describe('Ports of Stripe.'),
  }).describe(
    'Egress from the API to Stripe, when `PRESSROOM_BILLING` is `stripe` in `api.config`.',
  ),
  appDocuments: egressTo('the documents', PUBLIC, 443).describe(
    'Egress from the API to the client metadata documents (CIMD) of MCP clients. Not created when `PRESSROOM_MCP_CIMD`, `PRESSROOM_MCP` or `PRESSROOM_DASHBOARD` is `off` in `api.config`.',
  ),
  api: group({
    from: peers([]).describe(
      'NetworkPolicy peers that may call the API. When empty, all sources are allowed.',
    ),
    extraEgress,
  }).describe('The NetworkPolicy of the API.'),
  worker: group({ extraEgress }).describe('The NetworkPolicy of the workers.'),
  controller: group({ extraEgress }).describe('The NetworkPolicy of the controller.'),
}).describe(
  'NetworkPolicies of all pods. By default, workers can reach only DNS servers and public addresses.',
);

export const openshiftValues = group({
  enabled: flag(false).describe(
    'Adapt the release to OpenShift. OpenShift assigns users and groups to all pods, so that the SecurityContextConstraints `restricted-v2` admit them. Workers get SecurityContextConstraints of their own, which also allow the seccomp profile of `pool.chromeSandbox`. NetworkPolicies allow the DNS of OpenShift.',
  ),
  securityContextConstraints: group({
    create: flag(true).describe(
      'Create the SecurityContextConstraints of the workers, which needs the permissions of a cluster administrator. If false, create them yourself: docs/openshift.md shows how.',
    ),
  }).describe('The SecurityContextConstraints of the workers.'),
}).describe('Settings for OpenShift. See docs/openshift.md.');

export const prometheusValues = group({
  url: textIn('httpUrl', 'http://prometheus-operated.monitoring.svc:9090').describe(
    'URL of the Prometheus server that the controller queries. It must scrape the API and the workers.',
  ),
  token: secretEntry('token', 'the bearer token').describe(
    'Bearer token for the Prometheus server.',
  ),
}).describe('The source of the load metrics for autoscaling.');

export const podMonitorValues = group({
  enabled: flag(false).describe(
    'Create PodMonitors for the API, the workers and the controller. Requires the Prometheus Operator.',
  ),
  interval: textIn('prometheusDuration', '5s').describe(
    'Scrape interval of the workers and the controller.',
  ),
  apiInterval: textIn('prometheusDuration', '2s').describe(
    'Scrape interval of the API, which exports the queue metrics. The autoscaler detects a burst after one to two intervals. Do not exceed half of `PRESSROOM_QUEUE_TIMEOUT`: queued renders would time out before new workers are ready.',
  ),
  labels: textMapValue().describe(
    'Additional labels, to match the `podMonitorSelector` of your Prometheus, such as `release: kube-prometheus-stack`.',
  ),
}).describe('PodMonitors for the Prometheus Operator.');

const ratio = (fallback: number) => z.number().gt(0).lt(1).default(fallback);
const bound = (bounds: number[], fallback: number) => z.literal(bounds).default(fallback);

export const alertsValues = group({
  enabled: flag(false).describe(
    'Create a PrometheusRule with recording rules and alerts. Requires the Prometheus Operator.',
  ),
  labels: textMapValue().describe(
    'Additional labels, to match the `ruleSelector` of your Prometheus.',
  ),
  alertLabels: textMapValue().describe('Labels added to every alert, for routing in Alertmanager.'),
  disabled: stringList().describe('Names of alerts to leave out.'),
  runbookUrl: textIn('httpUrl').describe(
    'URL of the runbook that alerts link to. Defaults to the page /docs/runbook of the API of this release.',
  ),
  availabilityObjective: ratio(0.999).describe(
    'Objective for the fraction of renders that do not fail because of the service.',
  ),
  queueWaitObjective: ratio(0.99).describe(
    'Objective for the fraction of renders with a queue time of at most `queueWaitSeconds`.',
  ),
  queueWaitSeconds: bound([0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30], 1).describe(
    'Queue time threshold in seconds.',
  ),
  renderTimeObjective: ratio(0.95).describe(
    'Objective for the fraction of renders with a render duration of at most `renderTimeSeconds`, including the `wait_*` conditions of the request.',
  ),
  renderTimeSeconds: bound([0.5, 1, 2.5, 5, 10, 30, 60], 10).describe(
    'Render duration threshold in seconds.',
  ),
}).describe('Alerts and service level objectives.');

export const dashboardsValues = group({
  enabled: flag(false).describe('Create ConfigMaps with Grafana dashboards.'),
  labels: textMapValue({ grafana_dashboard: '1' }).describe(
    'Labels that the Grafana sidecar selects.',
  ),
  annotations: textMapValue().describe('Annotations of the ConfigMaps, such as the folder.'),
}).describe('Grafana dashboards.');

export const caBundleValues = group({
  configMap: textIn('objectName').describe('Name of an existing ConfigMap with the bundle.'),
  secret: textIn('objectName').describe(
    'Name of an existing Secret with the bundle. Set either `configMap` or `secret`.',
  ),
  key: stringValue('ca.crt').describe('Key in the ConfigMap or Secret.'),
}).describe(
  'Additional CA certificates in PEM format. They are trusted by the API (for MongoDB), by the controller (for Prometheus) and by Chrome (for pages, and for a proxy that inspects TLS).',
);

export const testValues = group({
  ...secretFields('key', 'an API key'),
  timeoutSeconds: countValue(180, 10, 3_600).describe(
    'How long the test retries while the first workers start.',
  ),
  ...podMetadata(', in addition to those of the API'),
}).describe(
  '`helm test` renders a page. Without `existingSecret`, it creates a test key in the account `helm-test` and revokes it at the end.',
);

export const podSecurityContext = objectValue({
  runAsUser: 10_001,
  runAsGroup: 10_001,
  fsGroup: 10_001,
}).describe(
  'Security context of all pods except the workers. The fields that the Pod Security Standard `restricted` requires are always set. With `openshift.enabled`, `runAsUser`, `runAsGroup` and `fsGroup` are left out.',
);
