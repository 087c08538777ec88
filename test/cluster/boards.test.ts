import { expect } from 'chai';
import { allMetrics } from '../../tools/all-metrics.ts';
import { boards } from '../../tools/boards/boards.ts';
import { VARIABLES } from '../../tools/boards/grafana.ts';
import { type Alert, groups } from '../../tools/boards/rules.ts';
import { withValues } from '../../tools/boards/rules-yaml.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { type BoardsSite, startBoardsSite } from './boards-deployment.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

const MINUTE_MS = 60_000;

/** Values of the Grafana variables. The rate interval is at least four scrapes. */
const CHOICES: Record<string, Record<string, string>> = {
  'for all pools': { namespace: '.+', pool: '.+', __rate_interval: '1m' },
  'for one pool': { namespace: 'pressroom', pool: 'pressroom', __rate_interval: '1m' },
};
const substituted = (expr: string, values: Record<string, string>) =>
  expr.replace(/\$(\w+)/g, (_, name: string) => values[name]!);

const ofController = new Set(
  allMetrics()
    .filter(({ of }) => of === 'controller')
    .map(({ name }) => name),
);
const needsController = (expr: string) =>
  [...expr.matchAll(/pressroom_\w+/g)].some(([name]) =>
    ofController.has(name.replace(/_(bucket|count|sum)$/, '')),
  );

/** The selectors in an expression. */
const selectors = (expr: string) => [
  ...new Set([...expr.matchAll(/[a-z0-9_:]+\{[^}]*\}/g)].map(([selector]) => selector)),
];

const rules = groups.flatMap(({ rules }) => rules);
const recordings = rules.filter(rule => 'record' in rule);
const alerts = rules.filter((rule): rule is Alert => 'alert' in rule);

describe('Grafana dashboards and rules with a Prometheus that scrapes a running service', function () {
  this.timeout(2 * MINUTE_MS);
  const folder = temporaryFolder();
  let deployment: BoardsSite | undefined;
  after(() => deployment?.stop());

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const binaries = await prometheusBinaries(console.log);
    if (!binaries)
      skip(
        this,
        'Prometheus is not installed and could not be downloaded (Debian package prometheus).',
      );
    deployment = await startBoardsSite(binaries, folder());
  });

  const check = (context: Mocha.Context, expr: string) => {
    if (deployment!.noController !== undefined && needsController(expr))
      skip(context, `no controller is running: ${deployment!.noController}`);
    return deployment!.prometheus.until(expr);
  };

  for (const { title, rows } of Object.values(boards))
    for (const { title: panel, queries } of rows.flatMap(({ panels }) => panels))
      for (const [index, { expr }] of queries.entries())
        for (const [choice, values] of Object.entries(CHOICES))
          it(`return data for ${title}: ${panel}, query ${index + 1}, ${choice}`, async function () {
            await check(this, substituted(expr, values));
          });

  for (const { name, metric } of VARIABLES)
    it(`have values for the variable ${name}`, async () => {
      const found = await deployment!.prometheus.until(
        `group by (${name}) (${substituted(metric, CHOICES['for all pools']!)})`,
      );
      expect(found.map(({ labels }) => labels[name])).to.include('pressroom');
    });

  for (const { record } of recordings)
    it(`record ${record}`, async () => {
      const found = await deployment!.prometheus.until(record);
      for (const { labels } of found)
        expect(labels).to.include({ namespace: 'pressroom', pool: 'pressroom' });
    });

  for (const { alert, expr, labels } of alerts)
    it(`use existing series in ${alert}${labels['window'] ? ` over ${labels['window']}` : ''}`, async function () {
      for (const selector of selectors(withValues(expr))) await check(this, selector);
    });

  it('evaluate every rule without errors', async () => {
    type Rules = { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    const { groups: evaluated } = await deployment!.prometheus.api<Rules>('rules');
    const states = evaluated.flatMap(group => group.rules);
    expect(states.length).to.equal(rules.length);
    expect(states.filter(({ health }) => health !== 'ok')).to.deep.equal([]);
  });

  it('have the label pool on every series of the API and the workers', async () => {
    expect(
      await deployment!.prometheus.query(
        'count by (__name__) ({job=~"api|workers",pool!="pressroom",__name__!~"up|scrape_.*"})',
      ),
    ).to.deep.equal([]);
    expect(
      await deployment!.prometheus.query('{job=~"api|workers",exported_pool!=""}'),
    ).to.deep.equal([]);
  });
});
