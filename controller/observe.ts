// Summarizes the current state of a pool: its Deployment, its pods and its load. Pure.
import type { Observation } from './decide/model.ts';
import type { Deployment, Pod } from './kubernetes/objects.ts';
import type { PoolLoad } from './load/load-cache.ts';
import { WORKER_CONTAINER } from './owned-resources.ts';

export interface DeploymentSeen {
  /** Desired replicas. */
  desired: number;
  replicas: number;
  ready: number;
  updated: number;
  /** Whether the Deployment controller has processed the last change. */
  observed: boolean;
}

interface PodProblem {
  reason: string;
  message: string;
}

export interface PodsSeen {
  ready: number;
  /** Names of the ready pods. */
  readyNames: readonly string[];
  /** Why pods do not become ready, from the first such pod. */
  problem: PodProblem | undefined;
  /** Why Chrome cannot use its sandbox. */
  sandbox: PodProblem | undefined;
}

export const isReady = ({ metadata, status }: Pod): boolean =>
  !metadata.deletionTimestamp &&
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

export function seeDeployment(deployment: Deployment | undefined): DeploymentSeen | undefined {
  if (!deployment) return undefined;
  const { spec, status, metadata } = deployment;
  return {
    desired: spec?.replicas ?? 1,
    replicas: status?.replicas ?? 0,
    ready: status?.readyReplicas ?? 0,
    updated: status?.updatedReplicas ?? 0,
    observed: (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0),
  };
}

export function seePods(pods: readonly Pod[]): PodsSeen {
  const first = (read: (pod: Pod) => PodProblem | undefined) => {
    for (const pod of pods) {
      const found = pod.metadata.deletionTimestamp || isReady(pod) ? undefined : read(pod);
      if (found) return found;
    }
    return undefined;
  };
  const sandbox = first(sandboxProblem);
  const readyNames = pods.filter(isReady).map(({ metadata }) => metadata.name);
  return { ready: readyNames.length, readyNames, sandbox, problem: sandbox ?? first(problemOf) };
}

/** Matches the message of a container runtime about a missing Localhost profile. */
const PROFILE_MISSING = /seccomp|profile/i;
/** Matches the termination message of a worker whose Chrome cannot use its sandbox. */
const NO_SANDBOX = /cannot use its sandbox/i;

function sandboxProblem(pod: Pod): PodProblem | undefined {
  const worker = pod.status?.containerStatuses?.filter(({ name }) => name === WORKER_CONTAINER);
  for (const { state, lastState } of worker ?? []) {
    const waiting = state?.waiting;
    if (waiting?.reason?.startsWith('Create') && PROFILE_MISSING.test(waiting.message ?? ''))
      return {
        reason: 'SeccompProfileMissing',
        message: `The seccomp profile is missing on node ${pod.spec?.nodeName}, so the container of pod ${pod.metadata.name} cannot be created (${waiting.message}). Install the profile, for example with seccompInstaller.enabled=true in the Helm chart, or choose another spec.template.chromeSandbox.mode.`,
      };
    const ended = state?.terminated ?? lastState?.terminated;
    if (NO_SANDBOX.test(ended?.message ?? ''))
      return {
        reason: 'NoUsableSandbox',
        message: `Chrome cannot use its sandbox on node ${pod.spec?.nodeName} (pod ${pod.metadata.name}): the seccomp profile or a kernel setting blocks user namespaces.`,
      };
  }
  return undefined;
}

function problemOf(pod: Pod): PodProblem | undefined {
  const { name } = pod.metadata;
  const unscheduled = pod.status?.conditions?.find(
    ({ type, status }) => type === 'PodScheduled' && status === 'False',
  );
  if (unscheduled)
    return {
      reason: unscheduled.reason ?? 'Unschedulable',
      message: `Pod ${name} cannot be scheduled: ${unscheduled.message ?? ''}`,
    };
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  for (const { state, lastState, restartCount = 0 } of [
    ...initContainerStatuses,
    ...containerStatuses,
  ]) {
    const { reason = '', message = '' } = state?.waiting ?? {};
    if (reason !== '' && reason !== 'ContainerCreating' && reason !== 'PodInitializing') {
      const ended = lastState?.terminated;
      const last = ended
        ? ` It last exited with code ${ended.exitCode}: ${(ended.message ?? ended.reason ?? '').trim().slice(-400)}`
        : '';
      return { reason, message: `Pod ${name}: ${message || reason}.${last}` };
    }
    if (restartCount > 0 && lastState?.terminated?.reason === 'OOMKilled')
      return {
        reason: 'OOMKilled',
        message: `Pod ${name} exceeded its memory limit and was killed.`,
      };
  }
  return undefined;
}

/** The load is partial if a ready worker is missing in it: the pool then does not shrink. */
export function observe(
  deployment: DeploymentSeen | undefined,
  pods: PodsSeen,
  load: PoolLoad,
): Observation {
  const { busyByPod, pageEnds: _pageEnds, ...plain } = load;
  // Compared by name: Prometheus returns deleted pods for some minutes after a restart.
  const missing = pods.readyNames.some(name => !busyByPod.has(name));
  const reported: Observation['load'] =
    plain.kind === 'measured' ? { ...plain, partial: plain.partial || missing } : plain;
  return { pods: deployment?.desired, readyPods: pods.ready, load: reported };
}
