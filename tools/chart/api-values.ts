// The chart's values of the API and of what leads to it.
import { z } from 'zod';
import { apiVariables } from '../../api/config.ts';
import { processVariables } from '../../common/config.ts';
import { configValues } from './config-values.ts';
import {
  countValue,
  disruptionBudget,
  flag,
  group,
  listValue,
  object,
  podValues,
  resources,
  serviceAccount,
  stringValue,
  textMapValue,
  words,
} from './parts.ts';

/** Those that other values, the chart itself or both halves of a pool decide on. */
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
  type: z
    .enum(['ClusterIP', 'NodePort', 'LoadBalancer'])
    .default('ClusterIP')
    .describe('As in a Service.'),
  port: countValue(80, 1, 65_535).describe('The port that callers use.'),
  nodePort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe('A fixed port of the nodes, for the types NodePort and LoadBalancer.'),
  loadBalancerClass: stringValue().describe('As in a Service, for the type LoadBalancer.'),
  loadBalancerSourceRanges: words().describe('As in a Service, for the type LoadBalancer.'),
  externalTrafficPolicy: z
    .enum(['Cluster', 'Local'])
    .optional()
    .describe(
      'As in a Service, for the types NodePort and LoadBalancer. `Local` keeps the address of callers.',
    ),
  annotations: textMapValue().describe('Its annotations.'),
}).describe('The Service that callers reach.');

const autoscaling = group({
  enabled: flag(false).describe(
    'Whether the number of pods follows the load of the processor. It needs a metrics server in the cluster. Kubernetes sets the number to 1 when this is switched on in a release that runs, until the autoscaler acts: do so while there is little load.',
  ),
  minReplicas: countValue(2, 1).describe('Never fewer pods than this.'),
  maxReplicas: countValue(10, 1).describe('Never more pods than this.'),
  targetCPUUtilizationPercentage: countValue(70, 1, 1_000).describe('Of the requested CPU.'),
  behavior: object()
    .default({})
    .describe('As in a HorizontalPodAutoscaler. Default: that of Kubernetes.'),
}).describe(
  'The HorizontalPodAutoscaler of the API. A render costs the API a few milliseconds of CPU and its worker twenty times that: workers are what usually has to grow.',
);

export const apiValues = group({
  replicas: countValue(2, 1, 1_000).describe('Pods, while `autoscaling` is off.'),
  publicUrl: stringValue().describe(
    'Where callers reach the API, such as `https://pdf.corp.example`: every absolute link is made from it. Default: the first host of the Ingress, else the address inside of the cluster.',
  ),
  trustedProxies: words().describe(
    'Addresses and CIDRs of the proxies whose `X-Forwarded-For` is believed, such as those of the Ingress controller. Without it all callers that come through one proxy are one address.',
  ),
  config: configValues(
    z.object({ ...processVariables.shape, ...apiVariables.shape }),
    API_ELSEWHERE,
  ).describe(
    'More environment variables of the API under their own names, such as `PRESSROOM_BODY_MAX: 20MiB`. All of them: docs/configuration.md.',
  ),
  resources: resources(
    { cpu: '500m', memory: '512Mi', 'ephemeral-storage': '64Mi' },
    { memory: '1Gi' },
  ),
  terminationGracePeriodSeconds: countValue(160, 1, 86_400).describe(
    'How long a pod that is told to stop may take to finish its renders: 5 s of accepting, then draining (`PRESSROOM_DRAIN_TIMEOUT`, which is 10 s less than this), then 5 s to end.',
  ),
  service,
  autoscaling,
  podDisruptionBudget: disruptionBudget().describe('The PodDisruptionBudget of the API.'),
  serviceAccount: serviceAccount(),
  ...podValues(),
}).describe('The API.');

/**
 * Of the nginx controller; the limits are a little over those of the API, so that its own answers
 * are the ones that callers see.
 */
const NGINX = {
  'nginx.ingress.kubernetes.io/proxy-body-size': '11m',
  'nginx.ingress.kubernetes.io/proxy-read-timeout': '300',
  'nginx.ingress.kubernetes.io/proxy-send-timeout': '300',
};

export const ingressValues = group({
  enabled: flag(false).describe('Whether there is an Ingress. Set `api.trustedProxies` with it.'),
  className: stringValue().describe('Which Ingress controller it is for.'),
  annotations: textMapValue(NGINX).describe(
    'Its annotations. The default ones let the nginx controller pass bodies of 10 MiB and wait for long renders; other controllers need their own. `null` takes one away.',
  ),
  hosts: words().describe('Host names, such as `pdf.corp.example`.'),
  path: stringValue('/').describe('Path below which all goes to the API.'),
  pathType: z
    .enum(['Prefix', 'Exact', 'ImplementationSpecific'])
    .default('Prefix')
    .describe('As in an Ingress.'),
  tls: listValue().default([]).describe('As in an Ingress: `hosts` and `secretName`.'),
}).describe('The Ingress of the API.');
