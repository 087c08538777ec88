// The values of the Helm chart: their names, types, defaults and meaning. values.yaml,
// values.schema.json and the table in the chart's README are made from this.
import { z } from 'zod';
import { apiValues, ingressValues } from './api-values.ts';
import { controllerValues } from './controller-values.ts';
import {
  alertsValues,
  caBundleValues,
  dashboardsValues,
  mongodbValues,
  networkPolicyValues,
  podMonitorValues,
  podSecurityContext,
  prometheusValues,
  secretsValues,
  testValues,
} from './operations-values.ts';
import { flag, group, imageOf, object, stringValue, textMapValue } from './parts.ts';
import { egressValues, poolValues, seccompInstallerValues } from './pool-values.ts';

const image = group({
  registry: stringValue().describe(
    'Put before the name of every image, such as `registry.corp.example/pressroom`.',
  ),
  tag: stringValue().describe(
    'The tag of the images of Pressroom. Default: the version of the chart.',
  ),
  pullPolicy: z
    .enum(['Always', 'IfNotPresent', 'Never'])
    .default('IfNotPresent')
    .describe('When an image is fetched.'),
  pullSecrets: z
    .array(z.strictObject({ name: z.string() }))
    .default([])
    .describe('Secrets for the registry, each as `name: …`.'),
  api: imageOf('pressroom-api', 'the API'),
  worker: imageOf('pressroom-worker', 'the workers'),
  controller: imageOf('pressroom-controller', 'the controller'),
}).describe('The images.');

export const chartValues = z.strictObject({
  fullnameOverride: stringValue().describe(
    'What the names of all objects begin with. Default: the name of the release.',
  ),
  commonLabels: textMapValue().describe('More labels of all objects.'),
  commonAnnotations: textMapValue().describe('More annotations of all objects.'),
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('The least level that all processes log.'),
  image,
  crds: group({
    upgrade: flag(true).describe(
      'Whether a Job brings the BrowserPool resource of the cluster up to date before the release is installed or upgraded; Helm itself only does it the very first time. It needs rights of the whole cluster.',
    ),
  }).describe('The definition of the BrowserPool resource. It stays when the release goes.'),
  mongodb: mongodbValues,
  secrets: secretsValues,
  api: apiValues,
  ingress: ingressValues,
  pool: poolValues,
  egress: egressValues,
  controller: controllerValues,
  prometheus: prometheusValues,
  podMonitor: podMonitorValues,
  alerts: alertsValues,
  dashboards: dashboardsValues,
  scrapeAnnotations: flag(false).describe(
    'Whether pods carry `prometheus.io/scrape`, `port` and `path`, for a Prometheus that discovers pods by these. It then scrapes as often as its own scrape_interval says: 2 to 5 s is good, and more than half of PRESSROOM_QUEUE_TIMEOUT too long, as the condition MetricsAvailable of the pool then says.',
  ),
  networkPolicy: networkPolicyValues,
  seccompInstaller: seccompInstallerValues,
  caBundle: caBundleValues,
  podSecurityContext,
  test: testValues,
  global: object()
    .default({})
    .describe(
      'What a chart above this one shares with all. `imageRegistry` counts when `image.registry` is empty.',
    ),
  enabled: z
    .boolean()
    .optional()
    .describe('Not read here: a chart above this one may switch by it.'),
});
