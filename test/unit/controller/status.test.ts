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
  message: 'as it was',
  limited: undefined,
  panic: false,
  history: noHistory(0),
  lookAgainMs: 5_000,
  ...over,
});
const deployment = (over: Partial<DeploymentSeen> = {}): DeploymentSeen => ({
  wanted: 3,
  replicas: 3,
  ready: 3,
  updated: 3,
  observed: true,
  ...over,
});
const noPods: PodsSeen = {
  ready: 3,
  readyNames: ['a', 'b', 'c'],
  trouble: undefined,
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
  return { word: `${status} ${reason}`, message };
};

const pod = (status: Pod['status'], name = 'p'): Pod => ({
  metadata: { name, namespace: 'press', uid: name, resourceVersion: '1' },
  spec: { nodeName: 'node-1' },
  ...(status && { status }),
});

describe('the conditions of a pool', () => {
  const cases: [string, ConditionType, Partial<PoolReport>, string][] = [
    ['Ready, when all pods are', 'Ready', {}, 'True AllReady'],
    [
      'Ready, with no pods when none are wanted',
      'Ready',
      { decision: decision({ pods: 0 }), deployment: deployment({ ready: 0 }) },
      'True ScaledToZero',
    ],
    [
      'not Ready before there is a Deployment',
      'Ready',
      { deployment: undefined },
      'False NoDeployment',
    ],
    [
      'not Ready while pods are missing',
      'Ready',
      { deployment: deployment({ ready: 2 }) },
      'False NotEnoughPods',
    ],
    [
      'not Ready while pods run what the spec said before',
      'Ready',
      { deployment: deployment({ updated: 1 }) },
      'False RollingOut',
    ],
    [
      'not Ready when its objects cannot be written',
      'Ready',
      { problem: 'no such class' },
      'False NotApplied',
    ],
    ['following the load', 'ScalingActive', {}, 'True FollowsLoad'],
    [
      'of a fixed size',
      'ScalingActive',
      { pool: browserPool({ spec: { replicas: 2 } }) },
      'False FixedSize',
    ],
    ['paused', 'ScalingActive', { pool: browserPool({ spec: { paused: true } }) }, 'False Paused'],
    ['within its limits', 'ScalingLimited', {}, 'False WithinLimits'],
    [
      'at its maximum',
      'ScalingLimited',
      { decision: decision({ limited: { by: 'max', desiredPods: 20 } }) },
      'True Max',
    ],
    ['with metrics', 'MetricsAvailable', {}, 'True Available'],
    [
      'whose metrics come too rarely for its queue',
      'MetricsAvailable',
      { load: { ...LOAD, slowScrape: { intervalMs: 30_000, queueTimeoutMs: 30_000 } } },
      'True ScrapedTooRarely',
    ],
    [
      'without metrics',
      'MetricsAvailable',
      { load: { kind: 'unknown', reason: 'no_data', message: 'nothing' } },
      'False NoData',
    ],
    [
      'of a held size without metrics',
      'ScalingActive',
      { load: { kind: 'unknown', reason: 'no_data', message: 'nothing' } },
      'False NoData',
    ],
    ['sandboxed', 'ChromeSandboxed', {}, 'True InUse'],
    [
      'without a pod that could tell of a sandbox',
      'ChromeSandboxed',
      { deployment: deployment({ ready: 0 }) },
      'Unknown NoPod',
    ],
    [
      'with the sandbox switched off',
      'ChromeSandboxed',
      {
        pool: browserPool({
          spec: { template: { ...POOL_SPEC.template, chromeSandbox: { mode: 'Off' } } },
        }),
      },
      'False SwitchedOff',
    ],
  ];
  for (const [title, type, over, word] of cases)
    it(`tell of a pool ${title}`, () => {
      expect(condition(type, over).word).to.equal(word);
    });

  it('tell from the pods why Chrome has no sandbox', () => {
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
              message: '{"msg":"Chrome cannot use its sandbox here. Allow user namespaces"}',
            },
          },
        },
      ],
    });
    const of = (each: Pod) =>
      condition('ChromeSandboxed', { pods: seePods([each]), deployment: deployment({ ready: 0 }) });
    expect(of(missing).word).to.equal('False SeccompProfileMissing');
    expect(of(missing).message).to.include('node-1').and.include('no such file');
    expect(of(unusable).word).to.equal('False NoUsableSandbox');
  });

  it('tell from the pods why they do not become ready', () => {
    const of = (each: Pod) =>
      condition('Ready', { pods: seePods([each]), deployment: deployment({ ready: 0 }) });
    const unschedulable = pod({
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' },
      ],
    });
    expect(of(unschedulable)).to.deep.equal({
      word: 'False Unschedulable',
      message: 'Pod p finds no node: 0/3 nodes',
    });
    const image = pod({
      containerStatuses: [
        {
          name: 'worker',
          state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } },
        },
      ],
    });
    expect(of(image).word).to.equal('False ImagePullBackOff');
  });

  it('keep the time of their last change while their status stays', () => {
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

describe('the status of a pool', () => {
  it('says when the size last changed, and why', () => {
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

  it('is worth an Event when something becomes better or worse, but not when a quiet pool reaches its minimum or leaves it', () => {
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

  it('is worth a write when a condition or the size changes, or the load, at once', () => {
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

  it('is the same whatever the order in which the API server gives its fields', () => {
    const before = poolStatusOf(report(), NOW);
    const turned = JSON.parse(JSON.stringify(Object.fromEntries(Object.entries(before).reverse())));
    expect(needsWrite(turned, before, 3_600_000)).to.equal(false);
  });
});
