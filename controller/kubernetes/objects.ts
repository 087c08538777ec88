// Of Deployments and pods, what the controller reads and sets.
import type { KubernetesObject } from './resources.ts';

/** Of two pods, the ReplicaSet's controller removes the cheaper one. */
export const COST = 'controller.kubernetes.io/pod-deletion-cost';

/** Of a Deployment, what is read. */
export interface Deployment extends KubernetesObject {
  spec?: { replicas?: number };
  status?: {
    observedGeneration?: number;
    replicas?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
  };
}

interface ContainerStatus {
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

/** Of a pod, what is read. */
export interface Pod extends KubernetesObject {
  spec?: { nodeName?: string };
  status?: {
    phase?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses?: ContainerStatus[];
  };
}
