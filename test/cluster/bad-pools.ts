// Invalid BrowserPool specs, which both the API server (with the CRD) and zod must reject.
import { type BrowserPoolSpecInput, CONTROLLER_VARIABLES } from '../../crds/browser-pool.ts';

/** The shortest valid spec. */
export const SHORTEST: BrowserPoolSpecInput = {
  poolSecret: { name: 'secret' },
  template: { image: 'worker' },
};

/** A field of the spec and invalid values for it. */
interface BadField {
  path: string;
  values: readonly unknown[];
}

const long = (length: number) => 'x'.repeat(length);
const many = <T>(count: number, item: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => item(index));
const named = (index: number) => ({ name: `name-${index}` });
const empty = () => ({});

/** Values outside the limits of each field. */
export const OUT_OF_BOUNDS: readonly BadField[] = [
  { path: 'slotsPerPod', values: [0, 257] },
  { path: 'replicas', values: [-1, 1_001] },
  { path: 'poolSecret.name', values: ['', long(254)] },
  { path: 'poolSecret.key', values: ['', long(254)] },
  { path: 'scaling.minReplicas', values: [-1, 1_001] },
  { path: 'scaling.maxReplicas', values: [0, 1_001] },
  { path: 'scaling.targetUtilizationPercent', values: [9, 101] },
  { path: 'scaling.idleSlots', values: [-1, 10_001] },
  { path: 'scaling.stableWindowSeconds', values: [9, 3_601] },
  { path: 'scaling.panicWindowSeconds', values: [0, 601] },
  { path: 'scaling.panicThresholdPercent', values: [109, 1_001] },
  { path: 'scaling.drainSeconds', values: [0, 601] },
  { path: 'scaling.scaleUp.maxPodsPerMinute', values: [0, 1_001] },
  { path: 'scaling.scaleUp.maxPercentPerMinute', values: [-1, 10_001] },
  { path: 'scaling.scaleDown.delaySeconds', values: [-1, 86_401] },
  { path: 'scaling.scaleDown.maxPodsPerMinute', values: [0, 1_001] },
  { path: 'scaling.scaleDown.maxPercentPerMinute', values: [-1, 101] },
  { path: 'template.image', values: ['', long(1_025)] },
  { path: 'template.imagePullPolicy', values: ['Sometimes'] },
  { path: 'template.imagePullSecrets', values: [many(17, named)] },
  { path: 'template.imagePullSecrets[0].name', values: ['', long(254)] },
  { path: 'template.env', values: [many(201, named)] },
  { path: 'template.env[0].name', values: ['', long(254)] },
  { path: 'template.envFrom', values: [many(51, empty)] },
  { path: 'template.tolerations', values: [many(51, empty)] },
  { path: 'template.topologySpreadConstraints', values: [many(21, empty)] },
  { path: 'template.priorityClassName', values: [long(254)] },
  { path: 'template.runtimeClassName', values: [long(254)] },
  { path: 'template.serviceAccountName', values: [long(254)] },
  { path: 'template.volumes', values: [many(51, named)] },
  { path: 'template.volumes[0].name', values: ['', long(254)] },
  { path: 'template.volumeMounts', values: [many(51, named)] },
  { path: 'template.volumeMounts[0].name', values: ['', long(254)] },
  { path: 'template.initContainers', values: [many(21, named)] },
  { path: 'template.initContainers[0].name', values: ['', long(254)] },
  { path: 'template.containers', values: [many(21, named)] },
  { path: 'template.containers[0].name', values: ['', long(254)] },
  { path: 'template.hostAliases', values: [many(101, empty)] },
  { path: 'template.scratchSizeLimit', values: ['', '1', '0Gi', '1G', '1.5Gi', ' 1Gi'] },
  { path: 'template.terminationGracePeriodSeconds', values: [9, 3_601] },
  { path: 'template.chromeSandbox.mode', values: ['On', ''] },
  { path: 'template.chromeSandbox.localhostProfile', values: ['', long(254)] },
];

/** Missing fields, and fields of the wrong type. */
export const MISSHAPEN: readonly BadField[] = [
  { path: 'poolSecret', values: [undefined, 'secret'] },
  { path: 'poolSecret.name', values: [undefined, 1] },
  { path: 'template', values: [undefined, 'worker'] },
  { path: 'template.image', values: [undefined] },
  { path: 'slotsPerPod', values: ['2', 1.5] },
  { path: 'paused', values: ['true'] },
  { path: 'scaling', values: [[]] },
  { path: 'template.env', values: ['NAME=value'] },
  { path: 'template.env[0].name', values: [undefined] },
  { path: 'template.labels.app', values: [1] },
  { path: 'template.resources', values: ['2 cores'] },
  { path: 'maxUnavailable', values: [true, 1.5] },
];

/** Violations of validation rules: the API server and zod return the same message. */
export const AGAINST_RULES: readonly (BadField & { message: string })[] = [
  {
    path: 'scaling',
    values: [{ minReplicas: 11 }, { minReplicas: 3, maxReplicas: 2 }],
    message: 'minReplicas must not be larger than maxReplicas',
  },
  {
    path: 'scaling',
    values: [{ panicWindowSeconds: 61 }, { panicWindowSeconds: 20, stableWindowSeconds: 10 }],
    message: 'panicWindowSeconds must not be larger than stableWindowSeconds',
  },
  {
    path: 'template.chromeSandbox',
    values: [
      { mode: 'Off', localhostProfile: 'mine.json' },
      { mode: 'Unconfined', localhostProfile: 'mine.json' },
    ],
    message: 'localhostProfile may only be set when mode is LocalhostProfile',
  },
  {
    path: 'template.env',
    values: CONTROLLER_VARIABLES.map(name => [
      { name: 'MINE', value: '1' },
      { name, value: '1' },
    ]),
    message: `must not contain variables that the controller sets: ${CONTROLLER_VARIABLES.join(', ')}`,
  },
  {
    path: 'maxUnavailable',
    values: [0, -1, '0%', '100%', '1000%', '5', '', '25 %', 'all'],
    message: 'must be an integer of at least 1, or a percentage from 1% to 99%',
  },
];

const steps = (path: string) =>
  path.split(/\.|\[(?=\d)/).map(step => (step.endsWith(']') ? Number.parseInt(step, 10) : step));

/** The shortest valid spec with `value` at `path`; `undefined` removes the field. */
export function specWith(path: string, value: unknown): unknown {
  const names = steps(path);
  const set = (at: unknown, [name, ...rest]: (string | number)[]): unknown => {
    if (name === undefined) return value;
    if (typeof name === 'number') return [set({}, rest)];
    return {
      ...(at as object),
      [name]: set(
        (at as Record<string, unknown> | undefined)?.[name] ?? (rest.length > 0 ? {} : undefined),
        rest,
      ),
    };
  };
  return JSON.parse(JSON.stringify(set(SHORTEST, names)));
}
