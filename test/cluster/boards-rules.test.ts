import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Alert, groups } from '../../tools/boards/rules.ts';
import { rulesYaml, withValues } from '../../tools/boards/rules-yaml.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { PROMTOOL_MS, usePromtool } from './promtool.ts';
import { cases, type RuleCase } from './rule-cases.ts';
import { type Course, HEALTHY } from './rule-series.ts';

const RULES = fileURLToPath(
  new URL('../../charts/pressroom/rules/pressroom.yaml', import.meta.url),
);

const alerts = groups
  .flatMap(({ rules }) => rules)
  .filter((rule): rule is Alert => 'alert' in rule);

/** Samples in the notation of promtool. The first sample is at minute 0. */
function samples(course: Course, stepMin: number, untilMin: number): string {
  const times = Math.ceil(untilMin / stepMin);
  if (typeof course === 'number') return `${course}x${times}`;
  let total = 0;
  const values = [0];
  const perMinute = (minute: number) => {
    let end = 0;
    for (const [minutes, rate] of course) {
      end += minutes;
      if (minute < end) return rate;
    }
    return 0;
  };
  for (let index = 0; index < times; index++) {
    total += perMinute(index * stepMin) * stepMin;
    values.push(Number(total.toFixed(3)));
  }
  return values.join(' ');
}

const labelsText = (labels: Record<string, string>) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');

/** The exact content of the series ALERTS. */
function expected({ firing }: RuleCase) {
  return firing.map(({ alert, labels = {} }) => {
    const rule = alerts.find(
      each =>
        each.alert === alert &&
        (labels.window === undefined || each.labels.window === labels.window),
    )!;
    const all = { alertname: alert, alertstate: 'firing', ...rule.labels, ...labels };
    return { labels: `ALERTS{${labelsText(all)}}`, value: 1 };
  });
}

function unitTest(each: RuleCase, rules: string) {
  const { stepMin = 1, atMin, series } = each;
  const courses = { ...HEALTHY, ...series };
  return {
    rule_files: [rules],
    evaluation_interval: `${stepMin}m`,
    // Without an order promtool takes the groups in a random one. An alert whose group comes before
    // that of its recorded series fires a step later.
    group_eval_order: groups.map(({ name }) => name),
    tests: [
      {
        interval: `${stepMin}m`,
        input_series: Object.entries(courses)
          .filter((entry): entry is [string, Course] => entry[1] !== 'gone')
          .map(([name, course]) => ({ series: name, values: samples(course, stepMin, atMin) })),
        promql_expr_test: [
          {
            expr: 'ALERTS{alertstate="firing"}',
            eval_time: `${atMin}m`,
            exp_samples: expected(each),
          },
        ],
      },
    ],
  };
}

describe('Prometheus rules', function () {
  this.timeout(PROMTOOL_MS);
  const file = temporaryFolder();
  const run = usePromtool();

  before(() => writeFileSync(file('rules.yaml'), withValues(rulesYaml())));

  for (const [what, path] of [
    ['as stored in the chart', () => RULES],
    ['with values', () => file('rules.yaml')],
  ] as const)
    it(`pass promtool check ${what}`, async () => {
      expect(await run('check', 'rules', path())).to.match(/SUCCESS: \d+ rules found/);
    });

  it('contain no placeholders after values are inserted', () => {
    expect(withValues(rulesYaml())).not.to.match(/^[^#]*(?:RELEASE|OBJECTIVE|RUNBOOK)_/m);
  });

  for (const [index, each] of cases.entries())
    it(each.title, async () => {
      const test = join(file(), `case-${index}.json`);
      writeFileSync(test, JSON.stringify(unitTest(each, file('rules.yaml'))));
      await run('test', 'rules', test);
    });

  it('have a case in which it fires for every alert', () => {
    const seen = new Set(cases.flatMap(({ firing }) => firing.map(({ alert }) => alert)));
    expect(
      [...new Set(alerts.map(({ alert }) => alert))].filter(name => !seen.has(name)),
    ).to.deep.equal([]);
  });

  it('use only labels of the alert in annotations', () => {
    for (const { alert, annotations } of alerts) {
      const labels = cases.flatMap(({ firing }) =>
        firing.filter(each => each.alert === alert).map(each => each.labels ?? {}),
      );
      const named = [
        ...Object.values(annotations)
          .join(' ')
          .matchAll(/\$labels\.(\w+)/g),
      ].map(match => match[1]!);
      for (const has of labels)
        expect(has, alert).to.include.all.keys(...new Set(named), 'namespace');
    }
  });
});
