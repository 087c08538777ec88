import { expect } from 'chai';
import { findHelm, type Helm, type KubeObject, one, type Values } from './chart/helm.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

describe("chart's Prometheus rules", function () {
  this.timeout(2 * MINUTE_MS);
  let helm: Helm;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    helm = await findHelm(this);
  });

  async function groupsWith(
    alerts: Values,
    more: Values = {},
  ): Promise<{ name: string; rules: Rule[] }[]> {
    return one(
      await helm.template({ alerts: { enabled: true, ...alerts }, ...more }),
      'PrometheusRule',
    ).spec.groups;
  }
  const rulesWith = async (alerts: Values, more: Values = {}) =>
    (await groupsWith(alerts, more)).flatMap(({ rules }) => rules);
  const objective = (rules: Rule[], name: string) =>
    rules.find(({ record }) => record === `pressroom:${name}`)?.expr;

  it('contain the values of the release instead of placeholders', async () => {
    const rules = await rulesWith({}, { pool: { name: 'reports' } });
    expect(rules.length).to.be.greaterThan(20);
    expect(JSON.stringify(rules)).not.to.match(/RELEASE_|OBJECTIVE_|RUNBOOK_/);
    expect(rules.filter(({ expr }) => typeof expr !== 'string')).to.deep.equal([]);
    expect(rules.filter(({ expr }) => /pool="reports"/.test(expr)).length).to.be.greaterThan(10);
    expect(rules.filter(({ expr }) => /namespace="(?!press")/.test(expr))).to.deep.equal([]);
  });

  it('use the objectives in the values', async () => {
    const usual = await rulesWith({});
    expect(objective(usual, 'availability_objective:ratio')).to.equal('(0.999)');
    const own = await rulesWith({
      availabilityObjective: 0.99,
      queueWaitSeconds: 2.5,
      renderTimeSeconds: 30,
    });
    expect(objective(own, 'availability_objective:ratio')).to.equal('(0.99)');
    const text = JSON.stringify(own);
    expect(text).to.include('le=~\\"2.5(').and.to.include('le=~\\"30(');
    expect(text).not.to.include('le=~\\"1(');
  });

  it('keep the templates of Prometheus unchanged', async () => {
    const texts = (await rulesWith({})).flatMap(({ annotations = {} }) =>
      Object.values(annotations),
    );
    expect(texts.filter(text => text.includes('{{ $')).length).to.be.greaterThan(5);
  });

  it('link to the runbook of the API unless alerts.runbookUrl is set', async () => {
    const links = async (values: Parameters<typeof rulesWith>[0]) =>
      (await rulesWith(values)).flatMap(({ alert, annotations }) =>
        alert ? [annotations?.runbook_url ?? 'none'] : [],
      );
    for (const link of await links({}))
      expect(link).to.match(/^http:\/\/room-api\.press\.svc\/docs\/runbook#[a-z]+$/);
    for (const link of await links({ runbookUrl: 'https://wiki.example/runbook' }))
      expect(link).to.match(/^https:\/\/wiki\.example\/runbook#[a-z]+$/);
  });

  it('omit disabled alerts, and add alertLabels to the others', async () => {
    const all = await rulesWith({});
    const [first, second] = [...new Set(all.flatMap(({ alert }) => alert ?? []))] as [
      string,
      string,
    ];
    const fewer = await rulesWith({ disabled: [first], alertLabels: { team: 'sre' } });
    const names = fewer.flatMap(({ alert }) => alert ?? []);
    expect(names).not.to.include(first);
    expect(names).to.include(second);
    for (const { alert, labels } of fewer)
      expect(labels?.team, alert).to.equal(alert ? 'sre' : undefined);
    expect(fewer.find(({ alert }) => alert === second)?.labels?.severity).to.be.a('string');
  });

  it('include the controller group only in a release with a controller', async () => {
    const names = (groups: { name: string }[]) => groups.map(({ name }) => name);
    expect(names(await groupsWith({}))).to.include('pressroom-controller');
    const without = await groupsWith({}, { controller: { enabled: false } });
    expect(names(without)).not.to.include('pressroom-controller');
    expect(without.length).to.be.greaterThan(0);
  });

  it('come with PodMonitors for all pods, which keep the pool namespace in controller metrics', async () => {
    const objects = await helm.template({
      podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    });
    const monitors = objects.filter(({ kind }) => kind === 'PodMonitor');
    expect(monitors.map(({ metadata }) => metadata.name)).to.deep.equal([
      'room-api',
      'room-worker',
      'room-controller',
    ]);
    for (const { metadata, spec } of monitors) {
      expect(metadata.labels.release).to.equal('prometheus');
      const interval = metadata.name === 'room-api' ? '2s' : '5s';
      expect(
        spec.podMetricsEndpoints.map((endpoint: KubeObject) => [endpoint.port, endpoint.interval]),
      ).to.deep.equal([['operations', interval]]);
    }
    expect(monitors.map(({ spec }) => spec.podMetricsEndpoints[0].honorLabels)).to.deep.equal([
      undefined,
      undefined,
      true,
    ]);
    const worker = monitors.find(({ metadata }) => metadata.name === 'room-worker');
    expect(worker.spec.selector.matchLabels).to.deep.equal({
      'app.kubernetes.io/component': 'worker',
      'pressroom.dev/pool': 'room',
    });
  });
});
