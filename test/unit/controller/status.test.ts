import { expect } from 'chai';
import { type Decision, type Load, noHistory } from '../../../controller/decide/model.ts';
import type { Pod } from '../../../controller/kubernetes/objects.ts';
import { type DeploymentSeen, type PodsSeen, seePods } from '../../../controller/observe.ts';
import {
  changedFor,
  conditionsOf,
  needsWrite,
  type PoolReport,
  poolStatusOf,
} from '../../../controller/status.ts';
import type { ConditionType } from '../../../crds/browser-pool.ts';
import { browserPool, POOL_SPEC } from '../../support/pools.ts';

const NOW = new Date('2026-11-22T10:00:00.500Z');
const decision = (over: Partial<Decision> = {}): Decision => ({
  pods: 3,
  reason: 'steady',
  message: 'No change.',
  limited: undefined,
  panic: false,
  history: noHistory(0),
  requeueAfterMs: 5_000,
  ...over,
});
const deployment = (over: Partial<DeploymentSeen> = {}): DeploymentSeen => ({
  desired: 3,
  replicas: 3,
  ready: 3,
  updated: 3,
  observed: true,
  ...over,
});
const noPods: PodsSeen = {
  ready: 3,
  readyNames: ['a', 'b', 'c'],
  problem: undefined,
  sandbox: undefined,
};
const LOAD: Load = {
  kind: 'measured',
  busySlots: 2,
  runningMs: 0,
  queuedRenders: 0,
  oldestWaitMs: 0,
  scrapeIntervalMs: 5_000,
  sampleAgeMs: 0,
  partial: false,
};
const report = (over: Partial<PoolReport> = {}): PoolReport => ({
  pool: browserPool(),
  decision: decision(),
  load: LOAD,
  deployment: deployment(),
  pods: noPods,
  problem: undefined,
  ...over,
});
const condition = (type: ConditionType, over: Partial<PoolReport> = {}) => {
  const { status, reason, message } = conditionsOf(report(over), NOW).find(
    each => each.type === type,
  )!;
  return { summary: `${status} ${reason}`, message };
};

const pod = (status: Pod['status'], name = 'p'): Pod => ({
  metadata: { name, namespace: 'press', uid: name, resourceVersion: '1' },
  spec: { nodeName: 'node-1' },
  ...(status && { status }),
});

describe('conditions of a pool', () => {
  const cases: [string, ConditionType, Partial<PoolReport>, string][] = [
    ['if all pods are ready', 'Ready', {}, 'True AllReady'],
    [
      'if zero pods are desired',
      'Ready',
      { decision: decision({ pods: 0 }), deployment: deployment({ ready: 0 }) },
      'True ScaledToZero',
    ],
    ['before the Deployment exists', 'Ready', { deployment: undefined }, 'False NoDeployment'],
    [
      'while pods are missing',
      'Ready',
      { deployment: deployment({ ready: 2 }) },
      'False NotEnoughPods',
    ],
    [
      'while pods are out of date',
      'Ready',
      { deployment: deployment({ updated: 1 }) },
      'False RollingOut',
    ],
    ['if its objects cannot be written', 'Ready', { problem: 'no such class' }, 'False NotApplied'],
    ['if the size follows the load', 'ScalingActive', {}, 'True FollowsLoad'],
    [
      'if the size is fixed',
      'ScalingActive',
      { pool: browserPool({ spec: { replicas: 2 } }) },
      'False FixedSize',
    ],
    [
      'if the pool is paused',
      'ScalingActive',
      { pool: browserPool({ spec: { paused: true } }) },
      'False Paused',
    ],
    ['within the limits', 'ScalingLimited', {}, 'False WithinLimits'],
    [
      'at maxReplicas',
      'ScalingLimited',
      { decision: decision({ limited: { by: 'max', desiredPods: 20 } }) },
      'True Max',
    ],
    ['with metrics', 'MetricsAvailable', {}, 'True Available'],
    [
      'if the scrape interval is too long for the queue timeout',
      'MetricsAvailable',
      { load: { ...LOAD, slowScrape: { intervalMs: 30_000, queueTimeoutMs: 30_000 } } },
      'True ScrapedTooRarely',
    ],
    [
      'without metrics',
      'MetricsAvailable',
      { load: { kind: 'unknown', reason: 'no_data', message: 'No data' } },
      'False NoData',
    ],
    [
      'if the load is unknown',
      'ScalingActive',
      { load: { kind: 'unknown', reason: 'no_data', message: 'No data' } },
      'False NoData',
    ],
    ['if a pod is ready', 'ChromeSandboxed', {}, 'True InUse'],
    [
      'without a ready pod',
      'ChromeSandboxed',
      { deployment: deployment({ ready: 0 }) },
      'Unknown NoPod',
    ],
    [
      'if the mode is Off',
      'ChromeSandboxed',
      {
        pool: browserPool({
          spec: { template: { ...POOL_SPEC.template, chromeSandbox: { mode: 'Off' } } },
        }),
      },
      'False SwitchedOff',
    ],
  ];
  for (const [title, type, over, summary] of cases)
    it(`${type} is ${summary.replace(' ', ' with reason ')} ${title}`, () => {
      expect(condition(type, over).summary).to.equal(summary);
    });

  it('show why Chrome cannot use its sandbox', () => {
    const missing = pod({
      containerStatuses: [
        {
          name: 'worker',
          state: {
            waiting: {
              reason: 'CreateContainerError',
              message: 'seccomp profile pressroom/chrome.json: no such file',
            },
          },
        },
      ],
    });
    const unusable = pod({
      containerStatuses: [
        {
          name: 'worker',
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
          lastState: {
            terminated: {
              exitCode: 1,
              message: '{"msg":"Chrome cannot use its sandbox on this system. Do one of"}',
            },
          },
        },
      ],
    });
    const of = (each: Pod) =>
      condition('ChromeSandboxed', { pods: seePods([each]), deployment: deployment({ ready: 0 }) });
    expect(of(missing).summary).to.equal('False SeccompProfileMissing');
    expect(of(missing).message).to.include('node-1').and.include('no such file');
    expect(of(unusable).summary).to.equal('False NoUsableSandbox');
  });

  it('show why pods do not become ready', () => {
    const of = (each: Pod) =>
      condition('Ready', { pods: seePods([each]), deployment: deployment({ ready: 0 }) });
    const unschedulable = pod({
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' },
      ],
    });
    expect(of(unschedulable)).to.deep.equal({
      summary: 'False Unschedulable',
      message: 'Pod p cannot be scheduled: 0/3 nodes',
    });
    const image = pod({
      containerStatuses: [
        {
          name: 'worker',
          state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
        },
      ],
    });
    expect(of(image).summary).to.equal('False ImagePullBackOff');
    const init = pod({
      initContainerStatuses: [
        { name: 'wait', state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } } },
      ],
      containerStatuses: [{ name: 'worker', state: { waiting: { reason: 'PodInitializing' } } }],
    });
    expect(of(init)).to.deep.equal({
      summary: 'False CrashLoopBackOff',
      message: 'Pod p: back-off.',
    });
  });

  it('do not take the problem of another container for that of the sandbox', () => {
    const sidecar = pod({
      containerStatuses: [
        {
          name: 'sidecar',
          state: { waiting: { reason: 'CreateContainerError', message: 'no AppArmor profile' } },
        },
      ],
    });
    const seen = { pods: seePods([sidecar]), deployment: deployment({ ready: 0 }) };
    expect(condition('ChromeSandboxed', seen).summary).to.equal('Unknown NoPod');
    expect(condition('Ready', seen).summary).to.equal('False CreateContainerError');
  });

  it('keep lastTransitionTime while their status does not change', () => {
    const first = poolStatusOf(report(), NOW);
    const later = new Date(NOW.getTime() + 60_000);
    const second = poolStatusOf(
      report({ pool: browserPool({ status: first }), deployment: deployment({ ready: 1 }) }),
      later,
    );
    const times = Object.fromEntries(
      second.conditions!.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]),
    );
    expect(times.Ready).to.equal('2026-11-22T10:01:00Z');
    expect(times.MetricsAvailable).to.equal('2026-11-22T10:00:00Z');
  });
});

describe('status of a pool', () => {
  it('contains the time and reason of the last scaling', () => {
    const grown = poolStatusOf(
      report({ decision: decision({ pods: 5, reason: 'from_zero' }) }),
      NOW,
    );
    expect(grown).to.include({
      desiredReplicas: 5,
      lastScaleTime: '2026-11-22T10:00:00Z',
      lastScaleReason: 'FromZero',
    });
    const later = poolStatusOf(
      report({ pool: browserPool({ status: grown }) }),
      new Date(NOW.getTime() + 60_000),
    );
    expect(later).to.include({
      lastScaleTime: '2026-11-22T10:00:00Z',
      lastScaleReason: 'FromZero',
    });
  });

  it('is reported as an Event if a condition changes, except for the minReplicas limit', () => {
    const at = (by: 'min' | 'max' | undefined) =>
      poolStatusOf(report({ decision: decision({ limited: by && { by, desiredPods: 9 } }) }), NOW);
    const reasons = (...[before, after]: (ReturnType<typeof at> | undefined)[]) =>
      changedFor(before, after!).map(({ reason }) => reason);
    expect(reasons(at(undefined), at('max'))).to.deep.equal(['Max']);
    expect(reasons(at('max'), at(undefined))).to.deep.equal(['WithinLimits']);
    expect(reasons(undefined, at(undefined))).to.deep.equal([]);
    expect(reasons(undefined, at('max'))).to.deep.equal(['Max']);
    expect(reasons(at(undefined), at('min'))).to.deep.equal([]);
    expect(reasons(at('min'), at(undefined))).to.deep.equal([]);
  });

  it('is written immediately if a condition, the size or the load changes', () => {
    const before = poolStatusOf(report(), NOW);
    const busier = poolStatusOf(
      report({
        pool: browserPool({ status: before }),
        load: { ...report().load, busySlots: 6 } as never,
      }),
      NOW,
    );
    const smaller = poolStatusOf(
      report({ pool: browserPool({ status: before }), deployment: deployment({ ready: 2 }) }),
      NOW,
    );
    expect(needsWrite(before, structuredClone(before), 3_600_000)).to.equal(false);
    expect(needsWrite(before, busier, 0)).to.equal(true);
    expect(needsWrite(before, smaller, 0)).to.equal(true);
  });

  it('is compared independently of the order of its fields', () => {
    const before = poolStatusOf(report(), NOW);
    const turned = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(before).reverse())));
    expect(needsWrite(turned, before, 3_600_000)).to.equal(false);
  });
});
