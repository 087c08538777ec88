// Makes a Secret of random values unless it is there already. Run by a hook of the chart, so that
// tools which render without a cluster never change it.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ConfigError } from '../common/config.ts';
import { type KubernetesObject, kubernetes } from './kubernetes/resources.ts';
import { runOnce } from './kubernetes/run-once.ts';
import { hasStatus } from './kubernetes/transport.ts';

interface Secret extends KubernetesObject {
  data?: Record<string, string>;
}

/** 43 letters and digits without padding: also fit for a URI and for a MongoDB key file. */
const random = () => randomBytes(32).toString('base64url').replaceAll(/[-_]/g, 'x');
const randomFor = (keys: string[]) => Object.fromEntries(keys.map(key => [key, random()]));

/** Somebody else writes to the Secret at the same moment: that is over at once. */
const TRIES = 5;

function readArguments(ownNamespace: string) {
  const { values } = parseArgs({
    options: {
      secret: { type: 'string' },
      keys: { type: 'string' },
      added: { type: 'string' },
      namespace: { type: 'string' },
    },
    strict: true,
  });
  const [keys, added] = [values.keys, values.added].map(list =>
    (list ?? '').split(',').filter(key => key !== ''),
  ) as [string[], string[]];
  if (!values.secret || keys.length + added.length === 0)
    throw new ConfigError(
      'Usage: make-secrets.ts --secret NAME --keys key,key [--added key,key] [--namespace NAMESPACE]. What is in `added` is added to a Secret that lacks it.',
    );
  return {
    name: values.secret,
    keys,
    added,
    namespace: values.namespace ?? process.env.PRESSROOM_NAMESPACE ?? ownNamespace,
  };
}

await runOnce(async ({ transport, namespace: own }) => {
  const { name, keys, added, namespace } = readArguments(own);
  const api = kubernetes(transport);
  const missing = (secret: Secret, of: string[]) => of.filter(key => !secret.data?.[key]);
  const look = () =>
    api.get<Secret>('secrets', namespace, name).catch(error => {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    });

  /** Gives what to say when it is done. Fails with 409 when another run was quicker. */
  async function attempt(): Promise<string> {
    const there = await look();
    if (there === undefined) {
      const all = [...keys, ...added];
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, labels: { 'app.kubernetes.io/name': 'pressroom' } },
        type: 'Opaque',
        stringData: randomFor(all),
      };
      await api.create('secrets', secret);
      return `Secret ${namespace}/${name} was made, with ${all.join(', ')}.`;
    }
    const names = missing(there, keys);
    if (names.length > 0)
      throw new Error(
        `Secret ${namespace}/${name} is there, but has no ${names.join(', ')}. It is left as it is, since what it has may be in use: add what is missing, or remove it when nothing uses it.`,
      );
    const later = missing(there, added);
    if (later.length === 0)
      return `Secret ${namespace}/${name} is there already and stays as it is.`;
    // Refused when it has changed since it was read: nothing that somebody else added is ever
    // overwritten.
    const { resourceVersion } = there.metadata;
    await api.patch('secrets', namespace, name, {
      metadata: { resourceVersion },
      stringData: randomFor(later),
    });
    return `Secret ${namespace}/${name} was there already and got ${later.join(', ')} besides.`;
  }

  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (tries === TRIES || !hasStatus(error, 409)) throw error;
    }
  }
});
