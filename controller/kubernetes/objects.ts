// The parts of Deployments and pods that the controller reads and writes.
import type { KubernetesObject } from './resources.ts';

/** The ReplicaSet controller removes pods with a lower cost first. */
export const COST = 'controller.kubernetes.io/pod-deletion-cost';

/** The fields of a Deployment that are read. */
export interface Deployment extends KubernetesObject {
  spec?: { replicas?: number };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
  };
}

export interface ContainerStatus {
  name: string;
  restartCount?: number;
  state?: { waiting?: { reason?: string; message?: string }; terminated?: Ended };
  lastState?: { terminated?: Ended };
}
interface Ended {
  reason?: string;
  message?: string;
  exitCode?: number;
}

/** The fields of a pod that are read. */
export interface Pod extends KubernetesObject {
  spec?: { nodeName?: string };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}
