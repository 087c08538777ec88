// Makes a Secret of random values unless it is there already. Run by a hook of the chart, so that tools which render without a cluster never change it.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { ConfigError } from '../common/config.ts';
import { kubernetes } from './kubernetes/resources.ts';
import { runOnce } from './kubernetes/run-once.ts';
import { hasStatus } from './kubernetes/transport.ts';

/** 43 letters and digits without padding: also fit for a URI and for a MongoDB key file. */
const random = () => randomBytes(32).toString('base64url').replaceAll(/[-_]/g, 'x');

function readArguments(ownNamespace: string) {
  const { values } = parseArgs({
    options: { secret: { type: 'string' }, keys: { type: 'string' }, namespace: { type: 'string' } },
    strict: true,
  });
  const keys = (values.keys ?? '').split(',').filter(key => key !== '');
  if (!values.secret || keys.length === 0)
    throw new ConfigError('Usage: make-secrets.ts --secret NAME --keys key,key [--namespace NAMESPACE]');
  return { name: values.secret, keys, namespace: values.namespace ?? process.env.PRESSROOM_NAMESPACE ?? ownNamespace };
}

await runOnce(async ({ transport, namespace: own }) => {
  const { name, keys, namespace } = readArguments(own);
  const api = kubernetes(transport);
  const missing = (there: { data?: Record<string, string> }) => keys.filter(key => !there.data?.[key]);
  const incomplete = (names: string[]) =>
    new Error(
      `Secret ${namespace}/${name} is there, but has no ${names.join(', ')}. It is left as it is, since what it has may be in use: add what is missing, or remove it when nothing uses it.`,
    );
  const look = () =>
    api.get<never>('secrets', namespace, name).catch(error => {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    });
  const there = await look();
  if (there === undefined) {
    const object = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels: { 'app.kubernetes.io/name': 'pressroom' } },
      type: 'Opaque',
      stringData: Object.fromEntries(keys.map(key => [key, random()])),
    };
    try {
      await api.create('secrets', object);
      return `Secret ${namespace}/${name} was made, with ${keys.join(', ')}.`;
    } catch (error) {
      // Another run was first.
      if (!hasStatus(error, 409)) throw error;
    }
  }
  const names = missing(there ?? (await look()) ?? {});
  if (names.length > 0) throw incomplete(names);
  return `Secret ${namespace}/${name} is there already and stays as it is.`;
});
