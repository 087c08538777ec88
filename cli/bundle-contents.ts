// What a support bundle may contain: allowlists for logs, configuration and Kubernetes objects. A
// field that is not listed here is left out.
import { apiVariables } from '../api/config.ts';
import { processVariables, type VariableMeta, variableMeta } from '../common/config.ts';
import { controllerVariables } from '../controller/config.ts';
import { workerVariables } from '../worker/config.ts';
import { withoutUserInfo } from './doctor/doctor-check.ts';

export type JsonObject = Record<string, unknown>;
const records = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? (value as JsonObject[]) : [];
const objectIn = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** Kinds whose values have a closed form, so that no secret fits. */
const SHOWN_KINDS: ReadonlySet<VariableMeta['kind']> = new Set([
  'duration',
  'bytes',
  'integer',
  'boolean',
  'choice',
]);
/** Texts and lists that support needs. Those that are URLs are shown without user, path and query. */
const SHOWN_TEXTS: ReadonlySet<string> = new Set([
  'PRESSROOM_HOST',
  'PRESSROOM_OPERATIONS_HOST',
  'PRESSROOM_POOL',
  'PRESSROOM_PUBLIC_URL',
  'PRESSROOM_TRUSTED_PROXIES',
  'PRESSROOM_WORKERS',
]);

const KNOWN = Object.entries({
  ...processVariables.shape,
  ...apiVariables.shape,
  ...workerVariables.shape,
  ...controllerVariables.shape,
});

const originOf = (text: string) =>
  text
    .split(',')
    .map(part => part.trim())
    .map(part => /^(\w+:\/\/)(?:[^/?#]*@)?([^/?#@]+)/.exec(part)?.slice(1).join('') ?? part)
    .map(part => (/^[\w.:/[\]-]+$/.test(part) ? part : '(not shown)'))
    .join(',');

/** Undefined for a name that is no variable of Pressroom. */
function shownVariable(name: string, value: unknown): string | undefined {
  const type = KNOWN.find(([known]) => known === name || `${known}_FILE` === name)?.[1];
  if (!type) return undefined;
  if (typeof value !== 'string') return '(set from another object)';
  const kind = variableMeta(type)?.kind;
  // A value that the process would reject may be anything.
  if (kind && SHOWN_KINDS.has(kind) && type.safeParse(value).success) return value;
  return SHOWN_TEXTS.has(name) ? originOf(value) : '(set, not shown)';
}

/** `env` of a container: the variables of Pressroom. */
export const shownConfiguration = (env: unknown): Record<string, string> =>
  Object.fromEntries(
    records(env).flatMap(({ name, value }) => {
      const shown = shownVariable(String(name), value);
      return shown === undefined ? [] : [[String(name), shown]];
    }),
  );

/** Fields of the log and their form. A path is left out: it may contain the token of a link. */
const LOG_FIELDS: Record<string, RegExp | 'number'> = {
  level: /^(trace|debug|info|warn|error|fatal)$/,
  time: /^[\d:.TZ-]{10,30}$/,
  process: /^(api|worker|controller|standalone)$/,
  requestId: /^[0-9a-f-]{36}$/,
  renderId: /^[0-9a-f-]{36}$/,
  method: /^[A-Z]{3,8}$/,
  code: /^[a-z_]{1,40}$/,
  reason: /^[a-z_]{1,40}$/,
  outcome: /^[a-z_]{1,20}$/,
  status: 'number',
  ms: 'number',
  bodyBytes: 'number',
  bytes: 'number',
  renderMs: 'number',
  pages: 'number',
  resourceErrors: 'number',
};

/** The messages of the log are constant sentences without values. */
const MESSAGE = /^[A-Za-z][A-Za-z ,;:'().-]{0,150}$/;
/** Words of ordinary length: a secret has digits or is longer. */
const isSentence = (text: string) =>
  MESSAGE.test(text) && text.split(' ').every(word => word.length <= 24);

/** A line of the log with the listed fields only; undefined for a line that is not JSON. */
export function shownLogLine(line: string): string | undefined {
  let fields: JsonObject;
  try {
    fields = objectIn(JSON.parse(line));
  } catch {
    return undefined;
  }
  const kept = Object.entries(LOG_FIELDS).flatMap(([name, form]) => {
    const value = fields[name];
    const fits = form === 'number' ? typeof value === 'number' : form.test(String(value));
    return value !== undefined && fits ? [[name, value]] : [];
  });
  const message = typeof fields['msg'] === 'string' && isSentence(fields['msg']);
  return JSON.stringify({ ...Object.fromEntries(kept), ...(message && { msg: fields['msg'] }) });
}

const metadataOf = (object: JsonObject) => {
  const { name, creationTimestamp, generation } = objectIn(object['metadata']);
  return { name, creationTimestamp, generation };
};
const conditionsOf = (status: JsonObject) =>
  records(status['conditions']).map(({ type, status: value, reason, lastTransitionTime }) => ({
    type,
    status: value,
    reason,
    lastTransitionTime,
  }));

export function shownPod(pod: JsonObject) {
  const status = objectIn(pod['status']);
  return {
    ...metadataOf(pod),
    phase: status['phase'],
    conditions: conditionsOf(status),
    containers: records(status['containerStatuses']).map(each => {
      const { name, image, imageID, ready, restartCount, state, lastState } = each;
      const reasons = [state, lastState].flatMap(which =>
        Object.entries(objectIn(which)).map(([kind, details]) => {
          const { reason, exitCode } = objectIn(details);
          return { kind, reason, exitCode };
        }),
      );
      return { name, image, imageID, ready, restartCount, reasons };
    }),
  };
}

export function shownDeployment(deployment: JsonObject) {
  const spec = objectIn(deployment['spec']);
  const { replicas, readyReplicas, updatedReplicas } = objectIn(deployment['status']);
  const template = objectIn(objectIn(spec['template'])['spec']);
  return {
    ...metadataOf(deployment),
    desired: spec['replicas'],
    replicas,
    readyReplicas,
    updatedReplicas,
    containers: records(template['containers']).map(({ name, image, resources, env }) => {
      const { requests, limits } = objectIn(resources);
      return { name, image, requests, limits, configuration: shownConfiguration(env) };
    }),
  };
}

const POOL_SPEC = ['replicas', 'minReplicas', 'maxReplicas', 'slotsPerPod', 'paused'];
const POOL_STATUS = [
  'observedGeneration',
  'desiredReplicas',
  'replicas',
  'readyReplicas',
  'updatedReplicas',
  'busySlots',
  'queuedRenders',
];
const picked = (object: JsonObject, names: readonly string[]) =>
  Object.fromEntries(
    names.flatMap(name =>
      ['number', 'boolean'].includes(typeof object[name]) ? [[name, object[name]]] : [],
    ),
  );

export const shownPool = (pool: JsonObject) => ({
  ...metadataOf(pool),
  spec: {
    ...picked(objectIn(pool['spec']), POOL_SPEC),
    ...picked(objectIn(objectIn(pool['spec'])['scaling']), POOL_SPEC),
  },
  status: picked(objectIn(pool['status']), POOL_STATUS),
  conditions: conditionsOf(objectIn(pool['status'])),
});

/** Without its message, which may quote anything. */
export function shownEvent(event: JsonObject) {
  const { kind, name } = objectIn(event['involvedObject']);
  const { type, reason, count, firstTimestamp, lastTimestamp, eventTime } = event;
  return { type, reason, kind, name, count, firstTimestamp, lastTimestamp, eventTime };
}

/** The lines of the metrics of Pressroom and of Node. */
export const shownMetrics = (text: string): string =>
  text
    .split('\n')
    .filter(line => /^(pressroom|process|nodejs)_\w+(\{[^{}]*\})? [\d.e+-]+$/.test(line))
    .join('\n');

/** Without user and query of URLs. */
const withoutUrlSecrets = (text: string) =>
  withoutUserInfo(text).replaceAll(/(\w:\/\/[^\s?]*)\?\S*/g, '$1?…');

/** The checks of `pressroom doctor --json`. Their messages may quote URLs. */
export const shownChecks = (output: JsonObject) =>
  records(output['checks']).map(check =>
    Object.fromEntries(
      ['subject', 'level', 'message', 'fix'].flatMap(name =>
        typeof check[name] === 'string' ? [[name, withoutUrlSecrets(check[name])]] : [],
      ),
    ),
  );
