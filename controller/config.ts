// The controller's environment variables, and the nested shape that the rest of it reads.
import { hostname } from 'node:os';
import { z } from 'zod';
import {
  ConfigError,
  duration,
  listVariable,
  parsed,
  readConfig,
  secret,
  textVariable,
} from '../common/config.ts';

const namespaceName = (name: string) => {
  if (!/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    throw new Error(`\`${name}\` is no name of a namespace`);
  return name;
};

export const controllerVariables = z.object({
  PRESSROOM_NAMESPACES: parsed(listVariable('', 'names of namespaces'), names =>
    names.map(namespaceName),
  ).describe(
    'Only pools in these namespaces are looked after (default: in all). `--namespace` on the command line says the same.',
  ),
  PRESSROOM_PROMETHEUS_URL: textVariable(undefined, 'an http(s) URL').describe(
    'The Prometheus that tells the load. Without it the size of every pool is held.',
  ),
  PRESSROOM_PROMETHEUS_TOKEN: secret().describe('Sent to Prometheus as a Bearer token.'),
  PRESSROOM_PROMETHEUS_INTERVAL: duration('1s', 500, 300e3).describe(
    'How often Prometheus is asked and sizes are decided: a burst is answered later by half of it.',
  ),
  PRESSROOM_LEASE_NAMESPACE: textVariable(undefined, 'the name of a namespace').describe(
    'Where the Lease lies by which several controllers agree on one (default: the namespace of the pod).',
  ),
  PRESSROOM_LEASE_NAME: textVariable('pressroom-controller', 'a name').describe(
    'The name of that Lease.',
  ),
  PRESSROOM_POD_NAME: textVariable(undefined, 'a name').describe(
    'Who this controller is, in that Lease (default: the name of the host).',
  ),
});

/**
 * Reads the controller's part of the environment. `namespaces` are those of the command line, which
 * count instead of the variable; `ownNamespace` is where the kubeconfig says that this process is.
 * Throws ConfigError.
 */
export function readControllerConfig(
  env: NodeJS.ProcessEnv,
  namespaces: readonly string[] = [],
  ownNamespace = 'default',
) {
  const given =
    namespaces.length > 0 ? { ...env, PRESSROOM_NAMESPACES: namespaces.join(',') } : env;
  const e = readConfig(controllerVariables, given);
  const url = e.PRESSROOM_PROMETHEUS_URL;
  if (url !== undefined && (!/^https?:\/\//.test(url) || !URL.canParse(url)))
    throw new ConfigError(`PRESSROOM_PROMETHEUS_URL=${url}: accepted is an http(s) URL`);
  return {
    namespaces: [...new Set(e.PRESSROOM_NAMESPACES)],
    prometheus: {
      url: url?.replace(/\/+$/, ''),
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
