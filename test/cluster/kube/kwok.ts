// Simulated nodes and pods with kwok: no container runs, but they start, become ready and end for
// Kubernetes. Defines the annotations that control this.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownPort } from '../../fault/harness/ports.ts';
import type { ApiAnswer, Json } from './api-request.ts';
import { PATCH } from './api-request.ts';
import { type LeashedProcess, startLeashed } from './leashed-process.ts';

/** Annotations of a pod template that control the simulation. */
export const SIMULATED = {
  /** Startup time such as `5s`, during which the pod is Pending. Defaults to none. */
  startDelay: 'tests/start-delay',
  /** `by-hand`: the pod is not ready until `setPodReady` is called. */
  ready: 'tests/ready',
  /** Termination time such as `30s`, during which the pod stays ready, as a draining pod may. */
  stopDelay: 'tests/stop-delay',
} as const;

const annotation = (name: string) => `.metadata.annotations["${name}"]`;
const is = (
  key: string,
  operator: 'Exists' | 'DoesNotExist' | 'In' | 'NotIn',
  ...values: string[]
) => ({
  key,
  operator,
  ...(values.length > 0 && { values }),
});

const started = (ready: boolean) => `
{{ $now := Now }}
conditions:
- { type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }} }
- { type: Ready, status: "${ready ? 'True' : 'False'}", lastTransitionTime: {{ $now | Quote }} }
- { type: ContainersReady, status: "${ready ? 'True' : 'False'}", lastTransitionTime: {{ $now | Quote }} }
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  ready: ${ready}
  restartCount: 0
  started: true
  state: { running: { startedAt: {{ $now | Quote }} } }
{{ end }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) | Quote }}
phase: Running
startTime: {{ $now | Quote }}
`;

const stage = (name: string, expressions: object[], delay: string, next: object) => ({
  apiVersion: 'kwok.x-k8s.io/v1alpha1',
  kind: 'Stage',
  metadata: { name },
  spec: {
    resourceRef: { apiGroup: 'v1', kind: 'Pod' },
    selector: { matchExpressions: expressions },
    delay: { durationMilliseconds: 0, durationFrom: { expressionFrom: annotation(delay) } },
    next,
  },
});

const fresh = [
  is('.metadata.deletionTimestamp', 'DoesNotExist'),
  is('.status.podIP', 'DoesNotExist'),
];
const byHand = (operator: 'In' | 'NotIn') => is(annotation(SIMULATED.ready), operator, 'by-hand');
const STAGES = [
  stage('start', [...fresh, byHand('NotIn')], SIMULATED.startDelay, {
    statusTemplate: started(true),
  }),
  stage('start-unready', [...fresh, byHand('In')], SIMULATED.startDelay, {
    statusTemplate: started(false),
  }),
  stage('end', [is('.metadata.deletionTimestamp', 'Exists')], SIMULATED.stopDelay, {
    finalizers: { empty: true },
    delete: true,
  }),
];

/** Nodes `node-0` and following, each for 250 pods. */
export const simulatedNodes = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => {
    const name = `node-${index}`;
    const capacity = { cpu: '128', memory: '512Gi', 'ephemeral-storage': '1Ti', pods: '250' };
    const labels = {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'topology.kubernetes.io/zone': `zone-${index % 3}`,
    };
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      status: { allocatable: capacity, capacity },
    };
  });

export async function startKwok(
  program: string,
  folder: string,
  kubeconfig: string,
): Promise<LeashedProcess> {
  const config = join(folder, 'kwok.yaml');
  await writeFile(config, STAGES.map(each => JSON.stringify(each)).join('\n---\n'));
  const port = await ownPort();
  const args = [
    ...[
      '--kubeconfig',
      kubeconfig,
      '--config',
      config,
      '--manage-all-nodes=true',
      '--cidr=10.244.0.1/16',
      '--node-ip=127.0.0.1',
    ],
    // Without Leases, nodes renew their status only every few minutes and are considered gone in
    // between.
    '--node-lease-duration-seconds=40',
    ...[`--node-port=${port}`, `--server-address=127.0.0.1:${port}`],
  ];
  return startLeashed('kwok', [program, ...args], join(folder, 'kwok.log'), { HOME: folder });
}

/** Sets the readiness of a started pod; kwok does not change it afterwards. */
export async function setPodReady(
  request: (
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
  ) => Promise<ApiAnswer>,
  namespace: string,
  name: string,
  ready: boolean,
): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const ask = async (...args: Parameters<typeof request>) => {
    const { status, body } = await request(...args);
    if (status !== 200)
      throw new Error(`${args[0]} ${args[1]} returned ${status}: ${JSON.stringify(body)}`);
    return body as Json;
  };
  const pod = await ask('GET', path);
  const word = ready ? 'True' : 'False';
  const lastTransitionTime = new Date().toISOString();
  await ask(
    'PATCH',
    `${path}/status`,
    {
      status: {
        conditions: ['Ready', 'ContainersReady'].map(type => ({
          type,
          status: word,
          lastTransitionTime,
        })),
        // A merge patch replaces the whole list.
        containerStatuses: pod.status.containerStatuses.map((container: Json) => ({
          ...container,
          ready,
        })),
      },
    },
    PATCH.strategic,
  );
}
