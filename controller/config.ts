// The environment variables of the controller, and its parsed configuration.
import { hostname } from 'node:os';
import { z } from 'zod';
import {
  duration,
  httpUrl,
  listVariable,
  parsed,
  readConfig,
  secret,
  textVariable,
} from '../common/config.ts';

export const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

const namespaceName = (name: string) => {
  if (!NAMESPACE_NAME.test(name)) throw new Error(`\`${name}\` is not a valid namespace name`);
  return name;
};

export const controllerVariables = z.object({
  PRESSROOM_NAMESPACES: parsed(listVariable('', 'namespace names'), names =>
    names.map(namespaceName),
  ).describe(
    'Namespaces whose pools are managed (default: all). The `--namespace` command-line option overrides it.',
  ),
  PRESSROOM_PROMETHEUS_URL: httpUrl().describe(
    'URL of the Prometheus server with the load metrics. If it is not set, pools keep their size.',
  ),
  PRESSROOM_PROMETHEUS_TOKEN: secret().describe('Bearer token for Prometheus.'),
  PRESSROOM_PROMETHEUS_INTERVAL: duration('1s', 500, 300e3).describe(
    'Interval of Prometheus queries and scaling decisions. On average, half of it is added to the response time to a burst.',
  ),
  PRESSROOM_LEASE_NAMESPACE: textVariable(undefined, 'the name of a namespace').describe(
    'Namespace of the leader election Lease (default: the namespace of the pod).',
  ),
  PRESSROOM_LEASE_NAME: textVariable('pressroom-controller', 'a name').describe(
    'Name of the leader election Lease. The Deployment of this name, if it exists, becomes its owner: the Lease is deleted with it.',
  ),
  PRESSROOM_POD_NAME: textVariable(undefined, 'a name').describe(
    'Identity of this controller in the Lease (default: the host name).',
  ),
});

/**
 * Reads the configuration. `namespaces` from the command line override the variable; `ownNamespace`
 * is the namespace of this process. Throws ConfigError.
 */
export function readControllerConfig(
  env: NodeJS.ProcessEnv,
  namespaces: readonly string[] = [],
  ownNamespace = 'default',
) {
  const given =
    namespaces.length > 0 ? { ...env, PRESSROOM_NAMESPACES: namespaces.join(',') } : env;
  const e = readConfig(controllerVariables, given);
  return {
    namespaces: [...new Set(e.PRESSROOM_NAMESPACES)],
    prometheus: {
      url: e.PRESSROOM_PROMETHEUS_URL?.replace(/\/+$/, ''),
      token: e.PRESSROOM_PROMETHEUS_TOKEN,
      intervalMs: e.PRESSROOM_PROMETHEUS_INTERVAL,
    },
    lease: {
      namespace: e.PRESSROOM_LEASE_NAMESPACE ?? ownNamespace,
      name: e.PRESSROOM_LEASE_NAME,
      holder: e.PRESSROOM_POD_NAME ?? hostname(),
    },
  };
}
export type ControllerConfig = ReturnType<typeof readControllerConfig>;
