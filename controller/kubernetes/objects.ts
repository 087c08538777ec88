// The parts of Deployments and pods that the controller reads and writes.
import type { V1ContainerStatus, V1DeploymentStatus } from '@kubernetes/client-node';
import type { KubernetesObject } from './resources.ts';

/** The ReplicaSet controller removes pods with a lower cost first. */
export const COST = 'controller.kubernetes.io/pod-deletion-cost';

/** The fields of a Deployment that are read. */
export interface Deployment extends KubernetesObject {
  spec?: { replicas?: number };
  status?: V1DeploymentStatus;
}

export type ContainerStatus = Pick<V1ContainerStatus, 'name'> &
  Partial<Pick<V1ContainerStatus, 'restartCount' | 'state' | 'lastState'>>;

/** The fields of a pod that are read. */
export interface Pod extends KubernetesObject {
  spec?: { nodeName?: string };
  status?: {
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    initContainerStatuses?: ContainerStatus[];
    containerStatuses?: ContainerStatus[];
  };
}
