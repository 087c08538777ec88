// The values of the Helm chart: names, types, defaults and descriptions. values.yaml,
// values.schema.json and the table in the chart's README are generated from this.
import { z } from 'zod';
import { apiValues, ingressValues } from './api-values.ts';
import { controllerValues } from './controller-values.ts';
import {
  alertsValues,
  caBundleValues,
  dashboardsValues,
  mongodbValues,
  networkPolicyValues,
  openshiftValues,
  podMonitorValues,
  podSecurityContext,
  prometheusValues,
  secretsValues,
  testValues,
} from './operations-values.ts';
import {
  choiceValue,
  flag,
  group,
  imageOf,
  object,
  objectValue,
  podMetadata,
  stringValue,
  textIn,
  textMapValue,
} from './parts.ts';
import {
  autoscalingValues,
  egressValues,
  poolValues,
  seccompInstallerValues,
} from './pool-values.ts';
import { httpRouteValues } from './route-values.ts';

const image = group({
  registry: textIn('imageRegistry').describe(
    'Registry and path prepended to every image name, such as `registry.corp.example/pressroom`.',
  ),
  tag: textIn('imageTag').describe(
    "Tag of the Pressroom images. Defaults to the chart's `appVersion`.",
  ),
  pullPolicy: choiceValue(['Always', 'IfNotPresent', 'Never'], 'IfNotPresent').describe(
    'Image pull policy.',
  ),
  pullSecrets: z
    .array(z.strictObject({ name: z.string() }))
    .default([])
    .describe('Image pull secrets, each as `name: …`.'),
  api: imageOf('pressroom-api', 'API'),
  worker: imageOf('pressroom-worker', 'worker'),
  controller: imageOf('pressroom-controller', 'controller'),
}).describe('Container images.');

/** The values by importance; the last section has all others. */
const SECTIONS: [string, readonly string[]][] = [
  ['You must set', ['mongodb', 'image']],
  [
    'You will want to set',
    [
      'prometheus',
      'podMonitor',
      'scrapeAnnotations',
      'ingress',
      'httpRoute',
      'api',
      'seccompInstaller',
    ],
  ],
];
const REST = 'The rest';

export const chartValues = z.strictObject({
  fullnameOverride: stringValue().describe(
    'Prefix of the names of all objects. Defaults to the release name.',
  ),
  commonLabels: textMapValue().describe('Additional labels for all objects.'),
  commonAnnotations: textMapValue().describe('Additional annotations for all objects.'),
  logLevel: choiceValue(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
  ).describe('Minimum level of the log messages of all processes.'),
  image,
  crds: group({
    upgrade: flag(true).describe(
      'Run a Job before each install and upgrade that updates the BrowserPool CRD. Helm only creates the CRD; it never updates it. The Job needs cluster-wide permissions.',
    ),
  }).describe(
    'The BrowserPool CustomResourceDefinition. It is not deleted when the release is uninstalled.',
  ),
  hooks: group(podMetadata(', in addition to those of the controller')).describe(
    'The Jobs that run before an install or upgrade.',
  ),
  mongodb: mongodbValues,
  secrets: secretsValues,
  api: apiValues,
  ingress: ingressValues,
  httpRoute: httpRouteValues,
  pool: poolValues,
  autoscaling: autoscalingValues,
  egress: egressValues,
  controller: controllerValues,
  prometheus: prometheusValues,
  podMonitor: podMonitorValues,
  alerts: alertsValues,
  dashboards: dashboardsValues,
  scrapeAnnotations: flag(false).describe(
    'Annotate pods with `prometheus.io/scrape`, `prometheus.io/port` and `prometheus.io/path`, for a Prometheus that discovers pods by annotation. Its own `scrape_interval` applies: use 2 to 5 s. If it exceeds half of `PRESSROOM_QUEUE_TIMEOUT`, the pool grows too late for a burst, and the MetricsAvailable condition of the pool has the reason ScrapedTooRarely.',
  ),
  networkPolicy: networkPolicyValues,
  seccompInstaller: seccompInstallerValues,
  openshift: openshiftValues,
  caBundle: caBundleValues,
  podSecurityContext,
  test: testValues,
  extraObjects: z
    .array(z.union([object(), z.string()]))
    .default([])
    .describe(
      'Additional objects to deploy with the release, as YAML or as text. They are templates: `{{ .Release.Name }}` is replaced.',
    ),
  global: objectValue().describe(
    'Values shared by all charts of a parent chart. `global.imageRegistry` takes precedence over `image.registry`.',
  ),
  enabled: z
    .boolean()
    .optional()
    .describe(
      'Not used by this chart. A parent chart can use it as the `condition` of the dependency.',
    ),
});

export interface ValueSection {
  title: string;
  shape: Record<string, z.ZodType>;
}

export function valueSections(): ValueSection[] {
  const all = Object.entries(chartValues.shape) as [string, z.ZodType][];
  const named = SECTIONS.map(([title, names]) => ({
    title,
    shape: Object.fromEntries(names.map(name => [name, all.find(([each]) => each === name)![1]])),
  }));
  const others = all.filter(([name]) => !named.some(({ shape }) => name in shape));
  return [...named, { title: REST, shape: Object.fromEntries(others) }];
}
