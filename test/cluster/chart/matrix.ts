// Sets of values that together cover every part of the chart.
import type { Values } from './helm.ts';

const PLACED = {
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'only', operator: 'Exists' }],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }],
      },
    },
  },
  topologySpreadConstraints: [
    { maxSkew: 2, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' },
    {
      maxSkew: 1,
      topologyKey: 'host',
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { mine: 'yes' } },
    },
  ],
  priorityClassName: 'important',
  podLabels: { team: 'paper' },
  podAnnotations: { note: 'read me' },
  extraEnv: [{ name: 'EXTRA', value: 'yes' }],
  extraEnvFrom: [{ configMapRef: { name: 'more', optional: true } }],
  extraVolumes: [{ name: 'extra', emptyDir: {} }],
  extraVolumeMounts: [{ name: 'extra', mountPath: '/extra' }],
};

/** A container that the Pod Security Standard `restricted` allows. */
const besides = (name: string) => ({
  name,
  image: 'sidecar:1',
  resources: { limits: { memory: '64Mi' } },
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  },
  volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
});

/** Parts of a pod that replace or add to those of the chart. */
export const EXTENDED = {
  extraContainers: [besides('sidecar')],
  initContainers: [{ ...besides('wait'), restartPolicy: 'Always' }],
  dnsConfig: { options: [{ name: 'ndots', value: '1' }] },
  hostAliases: [{ ip: '10.0.0.1', hostnames: ['wiki.corp'] }],
  lifecycle: { preStop: { sleep: { seconds: 5 } } },
  startupProbe: { failureThreshold: 300 },
  livenessProbe: { exec: { command: ['true'] } },
  readinessProbe: { httpGet: { path: '/mine', port: 8080 }, periodSeconds: 1 },
};
const MARKED = { podLabels: { team: 'paper' }, podAnnotations: { note: 'read me' } };

/** The sets by name. */
export const MATRIX: Record<string, Values> = {
  'the default values': {},
  'secrets as files': {
    secrets: {
      mountAsFiles: true,
      previousPepper: { existingSecret: 'old' },
      adminPassword: { existingSecret: 'mine' },
    },
    api: { config: { PRESSROOM_ADMIN_EMAIL: 'ada@example.com' } },
    prometheus: { url: 'http://prometheus:9090', token: { existingSecret: 'prometheus' } },
    egress: { proxy: { existingSecret: 'proxy', cidr: '10.20.30.40/32' } },
  },
  'secrets as files without the controller': {
    secrets: { mountAsFiles: true },
    autoscaling: { mode: 'none' },
    test: { existingSecret: 'key' },
  },
  'all optional objects': {
    ingress: {
      enabled: true,
      className: 'nginx',
      hosts: ['pdf.example', 'www.pdf.example'],
      tls: [{ hosts: ['pdf.example'], secretName: 'tls' }],
      annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '11m' },
    },
    httpRoute: {
      enabled: true,
      parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
      hostnames: ['*.pdf.example'],
      paths: ['/v1', '/docs', '/openapi.json'],
      annotations: { note: 'read me' },
      labels: { exposed: 'yes' },
      timeouts: { request: '300s', backendRequest: '300s' },
    },
    api: {
      autoscaling: { enabled: true, behavior: { scaleDown: { stabilizationWindowSeconds: 60 } } },
      trustedProxies: ['10.0.0.0/8'],
    },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    alerts: {
      enabled: true,
      labels: { release: 'prometheus' },
      alertLabels: { team: 'sre' },
      runbookUrl: 'https://wiki.example/runbook',
    },
    dashboards: { enabled: true, annotations: { folder: 'Pressroom' } },
    seccompInstaller: { enabled: true, seLinuxOptions: { type: 'spc_t' } },
    scrapeAnnotations: true,
    commonLabels: { team: 'paper' },
    commonAnnotations: { owner: 'paper' },
  },
  'a bundled MongoDB': { mongodb: { existingSecret: '', bundled: { enabled: true } } },
  'a bundled MongoDB without a volume': {
    mongodb: {
      existingSecret: '',
      bundled: { enabled: true, storage: { enabled: false, size: '1Gi' } },
    },
  },
  'a MongoDB connection string as a value': {
    mongodb: { existingSecret: '', uri: 'mongodb://user:secret@db.example/pressroom' },
  },
  'existing Secrets': {
    secrets: {
      pepper: { existingSecret: 'mine', key: 'p' },
      previousPepper: { existingSecret: 'old', key: 'p' },
      poolSecret: { existingSecret: 'mine', key: 's' },
      dashboard: { existingSecret: 'mine', key: 'd' },
    },
    prometheus: { url: 'https://prometheus.example', token: { existingSecret: 'mine', key: 't' } },
    test: { existingSecret: 'mine', key: 'k' },
  },
  'SSO and Stripe': {
    api: {
      config: {
        PRESSROOM_ADMIN_EMAIL: 'ada@corp.example',
        PRESSROOM_OIDC_ISSUER: 'https://login.corp.example',
        PRESSROOM_OIDC_CLIENT_ID: 'pressroom',
        PRESSROOM_OIDC_DOMAINS: 'corp.example',
        PRESSROOM_BILLING: 'stripe',
        PRESSROOM_STRIPE_PRICES: 'starter=price_1Abc',
      },
      publicUrl: 'https://pdf.corp.example',
    },
    secrets: {
      adminPassword: { existingSecret: 'people', key: 'admin' },
      oidcClientSecret: { existingSecret: 'people', key: 'oidc' },
      stripeSecretKey: { existingSecret: 'stripe', key: 'key' },
      stripeWebhookSecret: { existingSecret: 'stripe', key: 'webhook' },
    },
  },
  'an MCP server without client metadata documents': {
    api: {
      config: {
        PRESSROOM_MCP_CIMD: false,
        PRESSROOM_MCP_DCR: 'on',
        PRESSROOM_MCP_LINK_TTL: '10m',
        PRESSROOM_MCP_LINK_BYTES: '64MiB',
      },
      publicUrl: 'https://pdf.corp.example/',
    },
    egress: { deny: ['198.51.101.0/24'] },
  },
  'no dashboard': { api: { config: { PRESSROOM_DASHBOARD: false } } },
  'a cluster-wide controller': { controller: { clusterWide: true, replicas: 3 } },
  'a controller for several namespaces': { controller: { namespaces: ['other'] } },
  'an additional pool without a controller': {
    controller: { enabled: false },
    crds: { upgrade: false },
    pool: { name: 'reports', replicas: 3 },
  },
  'an existing pool': { pool: { enabled: false, name: 'shared' } },
  'no NetworkPolicies and no PodDisruptionBudgets': {
    networkPolicy: { enabled: false },
    api: { podDisruptionBudget: { enabled: false } },
    controller: { podDisruptionBudget: { enabled: false } },
  },
  'restricted NetworkPolicies': {
    networkPolicy: {
      api: {
        from: [{ namespaceSelector: { matchLabels: { a: 'b' } } }],
        extraEgress: [{ to: [{ ipBlock: { cidr: '10.9.0.0/16' } }] }],
      },
      mongodb: { to: [{ ipBlock: { cidr: '10.8.0.0/16' } }], ports: [27017, 27018] },
      kubernetesApi: { to: [{ ipBlock: { cidr: '10.0.0.1/32' } }], ports: [6443] },
      prometheus: { to: [{ podSelector: {} }], ports: [9091] },
      dns: { to: [], ports: [53, 5353] },
      worker: { extraEgress: [{ to: [{ ipBlock: { cidr: '10.7.0.0/16' } }] }] },
      controller: { extraEgress: [{ to: [{ ipBlock: { cidr: '10.6.0.0/16' } }] }] },
    },
  },
  'allowed and denied networks': {
    egress: {
      allow: [
        'wiki.corp',
        '*.corp.example:8443',
        '10.1.0.0/16',
        '10.2.3.4:9000',
        'fd00::/8',
        '[fd01::5]:8443',
      ],
      deny: ['198.51.100.0/24', '192.0.2.7', '2001:4860::/32', '64:ff9b::/96'],
      ports: [80, 443],
      dnsServers: ['10.0.0.53'],
    },
  },
  'a single port for pages': { egress: { ports: [443] } },
  'labels that conflict with those of the chart': {
    commonLabels: {
      'app.kubernetes.io/name': 'other',
      'app.kubernetes.io/version': '9',
      'helm.sh/chart': 'other',
    },
    api: { podLabels: { 'app.kubernetes.io/version': '9' } },
    podMonitor: { enabled: true, labels: { 'app.kubernetes.io/version': '9' } },
    mongodb: { existingSecret: '', bundled: { enabled: true } },
  },
  'the seccomp installer in an existing namespace': {
    seccompInstaller: { enabled: true, createNamespace: false },
    image: { pullSecrets: [{ name: 'pull' }] },
  },
  'an HTTP proxy and a private CA': {
    egress: { proxy: { existingSecret: 'proxy', cidr: '10.20.30.40/32', port: 3128 } },
    caBundle: { configMap: 'company-ca' },
  },
  'a private CA in a Secret': { caBundle: { secret: 'company-ca', key: 'root.pem' } },
  'images by digest from a private registry': {
    image: {
      registry: 'registry.example/team/',
      tag: '1.2.3',
      pullPolicy: 'Always',
      pullSecrets: [{ name: 'pull' }],
      api: { digest: `sha256:${'a'.repeat(64)}` },
      worker: { tag: '1.2.4' },
    },
  },
  'scheduling constraints': {
    api: PLACED,
    controller: PLACED,
    pool: { ...PLACED, runtimeClassName: 'gvisor', serviceAccountName: 'printer' },
  },
  'extended pods': {
    api: EXTENDED,
    controller: EXTENDED,
    pool: EXTENDED,
    mongodb: { existingSecret: '', bundled: { enabled: true, ...MARKED } },
    hooks: MARKED,
    test: MARKED,
    seccompInstaller: { enabled: true, ...MARKED },
  },
  'additional objects': {
    extraObjects: [
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: '{{ include "pressroom.fullname" . }}-extra',
          namespace: '{{ .Release.Namespace }}',
          labels: {
            'app.kubernetes.io/name': 'pressroom',
            'app.kubernetes.io/instance': '{{ .Release.Name }}',
          },
        },
        data: { replicas: '{{ .Values.api.replicas }}' },
      },
      `apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "pressroom.metadata" (list $ "extra" "text" (dict)) | nindent 2 }}
data: {given: "as text"}
`,
    ],
  },
  'custom service accounts and labels': {
    fullnameOverride: 'paper',
    commonLabels: { team: 'paper' },
    commonAnnotations: { owner: 'paper' },
    api: { serviceAccount: { create: false, name: 'given' } },
    controller: { serviceAccount: { annotations: { role: 'arn' } } },
    podSecurityContext: { runAsUser: 20_000, runAsGroup: 20_000, fsGroup: 20_000 },
  },
  OpenShift: {
    openshift: { enabled: true },
    seccompInstaller: { enabled: true },
    pool: { securityContext: { seLinuxOptions: { level: 's0:c26,c5' } } },
  },
  'workers without an autoscaler': { autoscaling: { mode: 'none' }, pool: { replicas: 3 } },
  'workers scaled by an HPA': { autoscaling: { mode: 'hpa' } },
  'workers scaled by KEDA': {
    autoscaling: { mode: 'keda' },
    prometheus: { url: 'https://prometheus.example', token: { existingSecret: 'mine', key: 't' } },
  },
  'Chrome without a sandbox': { pool: { chromeSandbox: { mode: 'Off' } } },
  'workers without a seccomp profile': { pool: { chromeSandbox: { mode: 'Unconfined' } } },
  'configuration of all processes': {
    logLevel: 'debug',
    api: {
      config: {
        PRESSROOM_TRIAL: false,
        PRESSROOM_TAGGED_PDF: 'on',
        PRESSROOM_QUEUE_MAX_RENDERS: 1_000_000,
        PRESSROOM_BODY_MAX: '20MiB',
      },
    },
    pool: {
      config: { PRESSROOM_RENDER_MEMORY: '2GiB', PRESSROOM_EGRESS_MAX_REQUESTS: 1_000_000 },
      scaling: { minReplicas: 2, scaleDown: { delaySeconds: 60 } },
    },
    controller: { config: { PRESSROOM_PROMETHEUS_INTERVAL: '10s', PRESSROOM_LOG_LEVEL: 'trace' } },
  },
  'a load balancer': {
    api: {
      service: {
        type: 'LoadBalancer',
        port: 443,
        externalTrafficPolicy: 'Local',
        loadBalancerSourceRanges: ['198.51.100.0/24'],
        annotations: { 'cloud.example/lb': 'internal' },
      },
    },
  },
};
