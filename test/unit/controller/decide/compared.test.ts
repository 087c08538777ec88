import { expect } from 'chai';
import {
  bestAtCost,
  noWorse,
  type Result,
  run,
  runPressroom,
  sceneOf,
} from '../../../../bench/autoscale-compare.ts';
import { LOADS } from '../../../../bench/autoscale-loads.ts';
import { type Autoscaler, simulate } from '../../../../bench/autoscale-pool.ts';
import { AUTOSCALERS, knativeOnPrometheus } from '../../../../bench/autoscalers.ts';

const loadNamed = (name: string) => LOADS.find(load => load.name === name)!;
const TARGETS = [0.2, 0.4, 0.55, 0.7, 0.85, 1, 1.5, 3, 5];

describe('autoscaler compared with others', () => {
  for (const name of ['spikes', 'noise'])
    it(`has a shorter p99 wait than HPA and Knative at equal cost under ${name}`, () => {
      const scene = sceneOf(loadNamed(name), 15_000, [1], 5_000);
      const mine = runPressroom(scene);
      for (const make of [AUTOSCALERS.HPA, AUTOSCALERS.Knative])
        expect(noWorse(mine, bestAtCost(scene, make, mine.podSeconds, TARGETS))).to.equal(true);
    }).timeout(120_000);

  for (const scrapeMs of [2_000, 5_000, 15_000])
    it(`has a shorter p99 wait at equal cost when long renders follow short ones, scraped every ${scrapeMs / 1_000} s`, () => {
      const scene = sceneOf(loadNamed('short to long'), 15_000, [1, 2], scrapeMs);
      const mine = runPressroom(scene);
      for (const make of [AUTOSCALERS.HPA, knativeOnPrometheus])
        expect(noWorse(mine, bestAtCost(scene, make, mine.podSeconds, TARGETS))).to.equal(true);
    }).timeout(60_000);

  it('changes its size at most three times in five minutes under noise', () => {
    const scene = sceneOf(loadNamed('noise'), 15_000, [1], 5_000);
    expect(runPressroom(scene).sizeChanges).to.be.at.most((3 * scene.load.durationMs) / 300_000);
  });

  it('counts a p99 wait as worse only if it is more than 5 % longer', () => {
    const result = (waitP99Ms: number): Result => ({
      targetUtilization: 1,
      waitP50Ms: 0,
      waitP99Ms,
      podSeconds: 1,
      sizeChanges: 0,
    });
    expect(noWorse(result(1_030), result(1_000))).to.equal(true);
    expect(noWorse(result(1_060), result(1_000))).to.equal(false);
    expect(noWorse(result(9_000), undefined)).to.equal(true);
  });
});

describe('simulated pool', () => {
  const setting = {
    slotsPerPod: 2,
    firstPods: 1,
    podStartMs: 10_000,
    scrapeMs: 5_000,
    apiScrapeMs: 5_000,
    durationMs: 60_000,
    seed: 1,
  };
  const idle: Autoscaler = () => ({ pods: undefined, againMs: 1_000 });
  const burst = Array.from({ length: 6 }, () => ({ atMs: 1_000, serviceMs: 2_000 }));

  it('serves renders in order of arrival, one per slot', () => {
    const { waitsMs, podSeconds } = simulate(burst, idle, setting);
    expect([...waitsMs]).to.deep.equal([0, 0, 2_000, 2_000, 4_000, 4_000]);
    expect(podSeconds).to.equal(60);
  });

  it('counts a pod from its request to its end, and ends none with a running render', () => {
    // A second pod is requested at 30 s. Both are removed at 45 s, when one runs a render until 52
    // s.
    const renders = [{ atMs: 44_000, serviceMs: 8_000 }];
    const sizes: Autoscaler = (_view, nowMs) => ({
      pods: nowMs < 30_000 ? 1 : nowMs < 45_000 ? 2 : 0,
      againMs: 1,
    });
    const { podSeconds, waitsMs } = simulate(renders, sizes, setting);
    expect(waitsMs[0]).to.equal(0);
    expect(podSeconds).to.be.closeTo(52 + 15, 0.01);
  });

  it('returns the same result for the same seed, and another result for another seed', () => {
    const scene = (seed: number) => sceneOf(loadNamed('step'), 15_000, [seed], 5_000);
    expect(runPressroom(scene(1))).to.deep.equal(runPressroom(scene(1)));
    expect(runPressroom(scene(1))).not.to.deep.equal(runPressroom(scene(2)));
  });

  it('reproduces known properties of the other autoscalers', () => {
    const step = sceneOf(loadNamed('step'), 15_000, [1, 2], 5_000);
    const [hpa, keda, knative] = [
      run(step, AUTOSCALERS.HPA),
      run(step, AUTOSCALERS.KEDA),
      run(step, AUTOSCALERS.Knative),
    ];
    expect(keda).to.deep.equal(hpa); // KEDA uses an HPA above one pod
    expect(knative.podSeconds).to.be.below(hpa.podSeconds); // a scale-down window of one minute instead of five
    expect(knative.sizeChanges).to.be.above(hpa.sizeChanges);
    const jobs = sceneOf(loadNamed('jobs from zero'), 15_000, [1, 2], 5_000);
    const [slow, quick] = [run(jobs, AUTOSCALERS.KEDA), run(jobs, AUTOSCALERS.Knative)];
    expect(slow.waitP99Ms - quick.waitP99Ms).to.be.above(15_000); // polled every 30 s
    // an HPA never scales to zero
    expect(run(jobs, AUTOSCALERS.HPA).waitP99Ms).to.be.below(quick.waitP99Ms);
  });
});
