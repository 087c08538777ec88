// What is known of a pool at this moment: its Deployment, its pods and its load.
import type { Observation } from './decide/model.ts';
import type { Deployment, Pod } from './kubernetes/objects.ts';
import type { PoolLoad } from './load/load-cache.ts';

export interface DeploymentSeen {
  /** Pods that it asks for. */
  wanted: number;
  replicas: number;
  ready: number;
  updated: number;
  /** Whether its controller has seen its last change. */
  observed: boolean;
}

interface Trouble {
  reason: string;
  message: string;
}

export interface PodsSeen {
  ready: number;
  /** Names of those that are. */
  readyNames: readonly string[];
  /** Why pods do not become ready: the trouble of the first such pod. */
  trouble: Trouble | undefined;
  /** Why Chrome has no sandbox in them. */
  sandbox: Trouble | undefined;
}

export const isReady = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp &&
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

export function seeDeployment(deployment: Deployment | undefined): DeploymentSeen | undefined {
  if (!deployment) return undefined;
  const { spec, status, metadata } = deployment;
  return {
    wanted: spec?.replicas ?? 1,
    replicas: status?.replicas ?? 0,
    ready: status?.readyReplicas ?? 0,
    updated: status?.updatedReplicas ?? 0,
    observed: (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
  };
}

export function seePods(pods: readonly Pod[]): PodsSeen {
  const first = (read: (pod: Pod) => Trouble | undefined) => {
    for (const pod of pods) {
      const found = pod.metadata.deletionTimestamp || isReady(pod) ? undefined : read(pod);
      if (found) return found;
    }
    return undefined;
  };
  const sandbox = first(sandboxTrouble);
  const readyNames = pods.filter(isReady).map(({ metadata }) => metadata.name);
  return { ready: readyNames.length, readyNames, sandbox, trouble: sandbox ?? first(troubleOf) };
}

/**
 * What a runtime says of a Localhost profile that does not lie on the node, and what a worker says
 * whose Chrome finds no sandbox.
 */
const PROFILE_MISSING = /seccomp|profile/i;
const NO_SANDBOX = /cannot use its sandbox/i;

function sandboxTrouble(pod: Pod): Trouble | undefined {
  for (const { state, lastState } of pod.status?.containerStatuses ?? []) {
    const waiting = state?.waiting;
    if (waiting?.reason?.startsWith('Create') && PROFILE_MISSING.test(waiting.message ?? ''))
      return {
        reason: 'SeccompProfileMissing',
        message: `The seccomp profile does not lie on node ${pod.spec?.nodeName}: pod ${pod.metadata.name} cannot be made (${waiting.message}). Put it there with the installer of the chart, or choose another spec.template.chromeSandbox.mode.`,
      };
    const ended = state?.terminated ?? lastState?.terminated;
    if (NO_SANDBOX.test(ended?.message ?? ''))
      return {
        reason: 'NoUsableSandbox',
        message: `Chrome finds no usable sandbox on node ${pod.spec?.nodeName} (pod ${pod.metadata.name}): its seccomp profile or a setting of its kernel forbids user namespaces.`,
      };
  }
  return undefined;
}

function troubleOf(pod: Pod): Trouble | undefined {
  const { name } = pod.metadata;
  const unscheduled = pod.status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  if (unscheduled)
    return {
      reason: unscheduled.reason ?? 'Unschedulable',
      message: `Pod ${name} finds no node: ${unscheduled.message ?? ''}`,
    };
  for (const { state, lastState, restartCount = 0 } of pod.status?.containerStatuses ?? []) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (reason !== '' && reason !== 'ContainerCreating' && reason !== 'PodInitializing') {
      const ended = lastState?.terminated;
      const last = ended
        ? ` It ended last with code ${ended.exitCode}: ${(ended.message ?? ended.reason ?? '').trim().slice(-400)}`
        : '';
      return { reason, message: `Pod ${name}: ${message || reason}.${last}` };
    }
    if (restartCount > 0 && lastState?.terminated?.reason === 'OOMKilled')
      return {
        reason: 'OOMKilled',
        message: `Pod ${name} used more memory than its limit and was ended.`,
      };
  }
  return undefined;
}

/** A ready worker that is missing in the load makes it partial: then nothing shrinks. */
export function observe(
  deployment: DeploymentSeen | undefined,
  pods: PodsSeen,
  load: PoolLoad,
): Observation {
  const { busyByPod, pageEnds: _pageEnds, ...plain } = load;
  // By name: after a restart Prometheus still returns pods that are gone for minutes.
  const missing = pods.readyNames.some(name => !busyByPod.has(name));
  const reported: Observation['load'] =
    plain.kind === 'measured' ? { ...plain, partial: plain.partial || missing } : plain;
  return { pods: deployment?.wanted, readyPods: pods.ready, load: reported };
}
