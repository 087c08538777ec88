// Creates a Secret with random values unless it exists. A hook Job of the chart runs it, because a
// template would generate new values whenever a tool renders the chart without cluster access.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ConfigError } from '../common/config.ts';
import { type KubernetesObject, kubernetes } from './kubernetes/resources.ts';
import { runOnce } from './kubernetes/run-once.ts';
import { hasStatus, ignoreNotFound } from './kubernetes/transport.ts';

interface Secret extends KubernetesObject {
  data?: Record<string, string>;
}

/** 43 letters and digits: valid in a URI and in a MongoDB keyfile. */
const random = () => randomBytes(32).toString('base64url').replaceAll(/[-_]/g, 'x');
const randomFor = (keys: string[]) => Object.fromEntries(keys.map(key => [key, random()]));

/** Attempts when another client writes to the Secret at the same time. */
const MAX_ATTEMPTS = 5;

function readArguments(ownNamespace: string) {
  const { values } = parseArgs({
    options: {
      secret: { type: 'string' },
      keys: { type: 'string' },
      added: { type: 'string' },
      namespace: { type: 'string' },
    },
  });
  const [keys, added] = [values.keys, values.added].map(list =>
    (list ?? '').split(',').filter(key => key !== ''),
  ) as [string[], string[]];
  if (!values.secret || keys.length + added.length === 0)
    throw new ConfigError(
      'Usage: make-secrets.ts --secret NAME --keys key,key [--added key,key] [--namespace NAMESPACE]. Keys in `--added` are added to an existing Secret that does not have them.',
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

  /** Returns the message to log. Throws 409 on a conflict with another client. */
  async function attempt(): Promise<string> {
    const existing = await api.get<Secret>('secrets', namespace, name).catch(ignoreNotFound);
    if (existing === undefined) {
      const all = [...keys, ...added];
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, labels: { 'app.kubernetes.io/name': 'pressroom' } },
        type: 'Opaque',
        stringData: randomFor(all),
      };
      await api.create('secrets', secret);
      return `Created Secret ${namespace}/${name} with the keys ${all.join(', ')}.`;
    }
    const names = missing(existing, keys);
    if (names.length > 0)
      throw new Error(
        `Secret ${namespace}/${name} exists but does not contain the keys ${names.join(', ')}. It was not changed, because its other keys may be in use. Add the missing keys, or delete the Secret if it is not in use.`,
      );
    const later = missing(existing, added);
    if (later.length === 0)
      return `Secret ${namespace}/${name} already exists and was not changed.`;
    // With its resourceVersion: the API server rejects the patch if the Secret has changed since,
    // so that values of another client are never overwritten.
    const { resourceVersion } = existing.metadata;
    await api.patch('secrets', namespace, name, {
      metadata: { resourceVersion },
      stringData: randomFor(later),
    });
    return `Added the keys ${later.join(', ')} to the existing Secret ${namespace}/${name}.`;
  }

  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || !hasStatus(error, 409)) throw error;
    }
  }
});
