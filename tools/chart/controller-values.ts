// The chart's values of the controller.
import { z } from 'zod';
import { processVariables } from '../../common/config.ts';
import { controllerVariables } from '../../controller/config.ts';
import { configValues } from './config-values.ts';
import {
  countValue,
  disruptionBudget,
  flag,
  group,
  podValues,
  resources,
  serviceAccount,
  words,
} from './parts.ts';

/** Those that other values or the chart itself decide on. */
export const CONTROLLER_ELSEWHERE = [
  'PRESSROOM_OPERATIONS_PORT',
  'PRESSROOM_NAMESPACES',
  'PRESSROOM_PROMETHEUS_URL',
  'PRESSROOM_LEASE_NAMESPACE',
  'PRESSROOM_LEASE_NAME',
  'PRESSROOM_POD_NAME',
];

export const controllerValues = group({
  enabled: flag(true).describe(
    'Whether this release brings a controller. One is enough for all pools of a namespace, or with `clusterWide` of the cluster.',
  ),
  replicas: countValue(2, 1, 10).describe('Pods. One leads, the others wait.'),
  clusterWide: flag(false).describe(
    'Whether it looks after the pools of all namespaces; its rights are then those of the whole cluster.',
  ),
  admissionPolicy: flag(true).describe(
    'Whether a ValidatingAdmissionPolicy limits its writes of Deployments to those of pools, where the cluster has that kind (Kubernetes 1.30).',
  ),
  namespaces: words().describe(
    "More namespaces than the release's own whose pools it looks after. They must be there.",
  ),
  config: configValues(
    z.object({ ...processVariables.shape, ...controllerVariables.shape }),
    CONTROLLER_ELSEWHERE,
  ).describe(
    'More environment variables of the controller under their own names, such as `PRESSROOM_PROMETHEUS_INTERVAL: 10s`.',
  ),
  resources: resources(
    { cpu: '50m', memory: '128Mi', 'ephemeral-storage': '64Mi' },
    { memory: '256Mi' },
  ),
  terminationGracePeriodSeconds: countValue(30, 1, 600).describe(
    'How long a pod that is told to stop may take; `PRESSROOM_DRAIN_TIMEOUT` is 10 s less.',
  ),
  podDisruptionBudget: disruptionBudget().describe('The PodDisruptionBudget of the controller.'),
  serviceAccount: serviceAccount(),
  ...podValues(),
}).describe(
  'The controller, which makes workers of BrowserPools and follows the load with their number.',
);
