import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { LifecycleState } from '../../../common/lifecycle.ts';
import {
  createMetrics,
  lifecycleMetrics,
  type MetricDescription,
} from '../../../common/operations.ts';
import { allMetrics } from '../../../tools/all-metrics.ts';
import { metricProblems } from '../../support/metric-rules.ts';

const good: MetricDescription = {
  name: 'pressroom_renders_total',
  type: 'counter',
  help: 'Renders.',
  labels: ['outcome'],
};

describe('the metrics of the product', () => {
  const metrics = allMetrics();

  it('are those of a real API and a real worker', () => {
    const names = metrics.map(({ of, name }) => `${of}: ${name}`);
    expect(names).to.include.members([
      'every process: pressroom_build_info',
      'every process: pressroom_lifecycle_state',
      'API: pressroom_renders_total',
      'API: pressroom_mongodb_operation_duration_seconds',
      'worker: pressroom_slots',
      'worker: pressroom_chromes',
    ]);
  });

  for (const metric of metrics)
    it(`follow the rules: ${metric.name}`, () => {
      expect(metricProblems(metric)).to.deep.equal([]);
    });

  it('have each name once', () => {
    expect(new Set(metrics.map(({ name }) => name)).size).to.equal(metrics.length);
  });
});

describe('the rules of metrics', () => {
  it('accept a valid metric', () => {
    expect(metricProblems(good)).to.deep.equal([]);
  });

  const bad: [string, Partial<MetricDescription>, RegExp][] = [
    ['a name without the prefix', { name: 'renders_total' }, /`pressroom_`/],
    ['capitals', { name: 'pressroom_rendersDone_total' }, /lower-case/],
    ['a counter that is no total', { name: 'pressroom_renders' }, /must end in `_total`/],
    ['a gauge that is a total', { type: 'gauge' }, /only the name of a counter/],
    [
      'a histogram without a unit',
      { type: 'histogram', name: 'pressroom_render_duration' },
      /must end in `_seconds`/,
    ],
    ['milliseconds', { name: 'pressroom_wait_ms_total' }, /base unit/],
    ['mebibytes', { type: 'gauge', name: 'pressroom_memory_mib' }, /base unit/],
    ['a percentage', { type: 'gauge', name: 'pressroom_use_percent' }, /base unit/],
    [
      'an ending of the format',
      { type: 'gauge', name: 'pressroom_renders_count' },
      /reserved for histograms/,
    ],
    [
      'a type in the name',
      { type: 'gauge', name: 'pressroom_renders_gauge' },
      /must not contain the type/,
    ],
    ['a help that does not end', { help: 'Renders' }, /full stop/],
    ['no help', { help: '' }, /full stop/],
    ['a label that is not closed', { labels: ['account'] }, /`account` is not allowed/],
    ['a label twice', { labels: ['outcome', 'outcome'] }, /repeated/],
    [
      'a queue without its pool',
      { type: 'gauge', name: 'pressroom_queue_depth', labels: [] },
      /must have the label `pool`/,
    ],
    [
      'slots without their pool',
      { type: 'gauge', name: 'pressroom_slots', labels: ['state'] },
      /must have the label `pool`/,
    ],
  ];
  for (const [what, change, problem] of bad)
    it(`reject ${what}`, () => {
      expect(metricProblems({ ...good, ...change }).join('; ')).to.match(problem);
    });

  it('reject a second metric with the same name', () => {
    const metrics = createMetrics({ processDefaults: false });
    metrics.counter('pressroom_renders_total', 'Renders.');
    expect(() => metrics.gauge('pressroom_renders_total', 'Renders.')).to.throw(
      'already been registered',
    );
  });
});

describe('a process', () => {
  it('exposes its release and the metrics of Node', async () => {
    const { version } = JSON.parse(
      readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
    );
    const text = await createMetrics().text();
    expect(text)
      .to.include(`pressroom_build_info{version="${version}",protocol="`)
      .and.include('process_resident_memory_bytes ');
  });

  it('adds its own labels to every series unless the metric sets them', async () => {
    const metrics = createMetrics({ labels: { pool: 'a' } });
    metrics.counter('pressroom_ends_total', 'Ends.').inc();
    metrics
      .histogram('pressroom_life_seconds', 'Lives.', ['phase'], [1])
      .observe({ phase: 'all' }, 2);
    metrics.gauge('pressroom_others', 'Others.', ['pool']).set({ pool: 'b' }, 1);
    const series = (await metrics.text())
      .split('\n')
      .filter(line => line !== '' && !line.startsWith('#'));
    expect(series)
      .to.include('pressroom_ends_total{pool="a"} 1')
      .and.include('pressroom_others{pool="b"} 1');
    expect(series.filter(line => !/[{,]pool="[ab]"[,}]/.test(line))).to.deep.equal([]);
  });

  it('exposes the state of its lifecycle', async () => {
    let state: LifecycleState = 'starting';
    const metrics = createMetrics({ processDefaults: false });
    lifecycleMetrics(metrics, () => state);
    expect(await metrics.text())
      .to.include('{state="starting"} 1')
      .and.include('{state="stopping"} 0');
    state = 'stopping';
    expect(await metrics.text())
      .to.include('{state="starting"} 0')
      .and.include('{state="stopping"} 1');
  });
});

describe('a counter with a closed list of values', () => {
  it('exposes every value from the start, and counts them separately', async () => {
    const metrics = createMetrics({ processDefaults: false });
    const count = metrics.counterBy('pressroom_ends_total', 'Ends.', 'reason', ['died', 'left'], {
      pool: 'a',
    });
    expect(await metrics.text())
      .to.include('{pool="a",reason="died"} 0')
      .and.include('{pool="a",reason="left"} 0');
    count('left');
    count('left');
    expect(await metrics.text())
      .to.include('{pool="a",reason="died"} 0')
      .and.include('{pool="a",reason="left"} 2');
  });
});
