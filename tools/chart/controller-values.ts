// The chart's values for the controller.
import { controllerVariables } from '../../controller/config.ts';
import { configValues } from './config-values.ts';
import {
  countValue,
  disruptionBudget,
  flag,
  group,
  listIn,
  podValues,
  resources,
  serviceAccount,
} from './parts.ts';

/** Variables that the chart sets itself or from other values. */
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
    'Deploy the controller. One controller manages all pools of its namespace, or of the whole cluster when `clusterWide` is true.',
  ),
  replicas: countValue(2, 1, 10).describe(
    'Number of controller pods. One is the leader; the others are on standby.',
  ),
  clusterWide: flag(false).describe(
    'Manage the pools of all namespaces. This grants the controller cluster-wide permissions.',
  ),
  admissionPolicy: flag(true).describe(
    'Create a ValidatingAdmissionPolicy that denies controller writes to Deployments not owned by a BrowserPool. It requires Kubernetes 1.30 and is skipped on older clusters.',
  ),
  namespaces: listIn('namespace').describe(
    'Namespaces to manage in addition to the namespace of the release. They must exist.',
  ),
  config: configValues(controllerVariables, CONTROLLER_ELSEWHERE).describe(
    'Configuration of the controller as environment variables, such as `PRESSROOM_PROMETHEUS_INTERVAL: 10s`. For the full list, see docs/configuration.md.',
  ),
  resources: resources(
    { cpu: '50m', memory: '128Mi', 'ephemeral-storage': '64Mi' },
    { memory: '256Mi' },
  ),
  terminationGracePeriodSeconds: countValue(30, 1, 600).describe(
    'Termination grace period. `PRESSROOM_DRAIN_TIMEOUT` is set to 10 s less than this value.',
  ),
  podDisruptionBudget: disruptionBudget().describe('The PodDisruptionBudget of the controller.'),
  serviceAccount: serviceAccount(),
  ...podValues(),
}).describe(
  'The controller, which creates the workers of each BrowserPool and scales them with the load.',
);
