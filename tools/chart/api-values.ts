// The chart's values for the API, its Service and its Ingress.
import { z } from 'zod';
import { apiVariables } from '../../api/config.ts';
import { configValues } from './config-values.ts';
import { withRelations } from './formats.ts';
import {
  choiceValue,
  countValue,
  disruptionBudget,
  flag,
  group,
  listIn,
  listValue,
  objectValue,
  podValues,
  resources,
  serviceAccount,
  stringValue,
  textIn,
  textMapValue,
} from './parts.ts';
import { routedPaths } from './route-values.ts';

/** Variables that the chart sets itself or from other values. */
export const API_ELSEWHERE = [
  'PRESSROOM_PORT',
  'PRESSROOM_OPERATIONS_PORT',
  'PRESSROOM_PUBLIC_URL',
  'PRESSROOM_TRUSTED_PROXIES',
  'PRESSROOM_POOL',
  'PRESSROOM_WORKERS',
  'PRESSROOM_EGRESS_ALLOW',
  'PRESSROOM_EGRESS_DENY',
  'PRESSROOM_EGRESS_PORTS',
];

const service = group({
  type: choiceValue(['ClusterIP', 'NodePort', 'LoadBalancer'], 'ClusterIP').describe(
    'Service type.',
  ),
  port: countValue(80, 1, 65_535).describe('Service port.'),
  nodePort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe('Node port, for the types NodePort and LoadBalancer.'),
  loadBalancerClass: stringValue().describe('Load balancer class, for the type LoadBalancer.'),
  loadBalancerSourceRanges: listIn('cidr').describe(
    'Client CIDRs that may connect, for the type LoadBalancer.',
  ),
  externalTrafficPolicy: z
    .enum(['Cluster', 'Local'])
    .optional()
    .describe(
      'External traffic policy, for the types NodePort and LoadBalancer. `Local` preserves the client IP address.',
    ),
  annotations: textMapValue().describe('Annotations of the Service.'),
}).describe('The Service of the API.');

const autoscaling = withRelations(
  group({
    enabled: flag(false).describe(
      'Create a HorizontalPodAutoscaler that scales the API by CPU utilization. It requires metrics-server. When you enable it on an existing release, Kubernetes first scales the Deployment to 1 replica: enable it while traffic is low.',
    ),
    minReplicas: countValue(2, 1).describe('Minimum number of replicas.'),
    maxReplicas: countValue(10, 1).describe('Maximum number of replicas.'),
    targetCPUUtilizationPercentage: countValue(70, 1, 1_000).describe(
      'Target average CPU utilization, as a percentage of the CPU request.',
    ),
    behavior: objectValue().describe(
      'Scaling behavior (`behavior` of a HorizontalPodAutoscaler). Defaults to that of Kubernetes.',
    ),
  }),
  { smaller: 'minReplicas', larger: 'maxReplicas' },
).describe(
  'The HorizontalPodAutoscaler of the API. Usually only workers need to scale: a render takes a few milliseconds of CPU in the API and more than ten times as much in the worker.',
);

export const apiValues = group({
  publicUrl: textIn('httpUrl').describe(
    'Public base URL of the API, such as `https://pdf.corp.example`. All absolute links start with it. Defaults to the first host of the Ingress, otherwise to the first hostname of the HTTPRoute with https, otherwise to the in-cluster URL of the Service.',
  ),
  trustedProxies: listIn('network').describe(
    'IP addresses and CIDRs of trusted proxies, such as the pods of the Ingress controller. The API reads the client IP address from their `X-Forwarded-For` header. When empty, all clients behind one proxy share its IP address.',
  ),
  trial: group({
    enabled: flag(false).describe(
      'Accept `POST /v1/trial/render`, which renders for any caller without an API key, within the limits `PRESSROOM_TRIAL_PER_MINUTE` and `PRESSROOM_TRIAL_PARALLEL` of `api.config`. Also set `api.trustedProxies`, because one limit is per IP address. `PRESSROOM_TRIAL` in `api.config` takes precedence.',
    ),
  }).describe('Renders without an API key.'),
  rendererReuse: group({
    enabled: flag(true).describe(
      'Render static documents of an account one after another in the same sealed browser page, without scripts and network, which doubles their throughput. When false, each render has a renderer process of its own. `PRESSROOM_RENDERER_REUSE` in `api.config` takes precedence.',
    ),
  }).describe('Pages for static documents.'),
  replicas: countValue(2, 1, 1_000).describe(
    'Number of API pods. Ignored when `api.autoscaling.enabled` is true.',
  ),
  config: configValues(apiVariables, API_ELSEWHERE).describe(
    'Configuration of the API as environment variables, such as `PRESSROOM_BODY_MAX: 20MiB`. For the full list, see docs/configuration.md.',
  ),
  resources: resources(
    { cpu: '120m', memory: '512Mi', 'ephemeral-storage': '64Mi' },
    { memory: '1Gi' },
  ),
  terminationGracePeriodSeconds: countValue(160, 1, 86_400).describe(
    'Termination grace period. A terminating pod accepts requests for 5 s, drains for up to `PRESSROOM_DRAIN_TIMEOUT` (set to 10 s less than this value), and has 5 s to exit.',
  ),
  service,
  autoscaling,
  podDisruptionBudget: disruptionBudget().describe('The PodDisruptionBudget of the API.'),
  serviceAccount: serviceAccount(),
  ...podValues(),
}).describe('The API.');

export const ingressValues = group({
  enabled: flag(false).describe('Create an Ingress. Also set `api.trustedProxies`.'),
  className: stringValue().describe('Ingress class name.'),
  annotations: textMapValue().describe(
    'Annotations of the Ingress. Most Ingress controllers need annotations for request bodies of 10 MiB and responses of 300 s. The README has those of some controllers.',
  ),
  hosts: listIn('hostName').describe('Hostnames, such as `pdf.corp.example`.'),
  paths: routedPaths(),
  pathType: choiceValue(['Prefix', 'Exact', 'ImplementationSpecific'], 'Prefix').describe(
    'Path type of all paths.',
  ),
  tls: listValue().describe('TLS configuration: a list of `hosts` and `secretName`.'),
}).describe('The Ingress of the API.');
