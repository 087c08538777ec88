import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { RENDER_FAILED_REASONS } from '../../common/contract/errors.ts';
import { allMetrics } from '../../tools/all-metrics.ts';
import { boards } from '../../tools/boards/boards.ts';
import { boardJson } from '../../tools/boards/grafana.ts';
import { OURS, PAGES } from '../../tools/boards/queries.ts';
import { type Alert, groups } from '../../tools/boards/rules.ts';

const CHART = new URL('../../charts/pressroom/', import.meta.url);
const runbook = readFileSync(new URL('runbook.md', CHART), 'utf8');

interface GrafanaPanel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit: string } };
  targets?: { expr: string; refId: string }[];
}

const rules = groups.flatMap(({ rules }) => rules);
const alerts = rules.filter((rule): rule is Alert => 'alert' in rule);
const expressions = [
  ...Object.values(boards).flatMap(({ rows }) =>
    rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => expr))),
  ),
  ...rules.map(({ expr }) => expr),
];

describe('Grafana dashboards', () => {
  for (const [name, board] of Object.entries(boards)) {
    const json = boardJson(board);
    const { panels, ...rest } = JSON.parse(json) as {
      panels: GrafanaPanel[];
      uid: string;
      title: string;
      templating: { list: { name: string }[] };
    };
    const shown = panels.filter(({ type }) => type !== 'row');

    it(`${name} uses only the data source variable`, () => {
      const uids = [...json.matchAll(/"datasource": \{[^}]*"uid": "([^"]*)"/g)].map(
        match => match[1],
      );
      expect(new Set(uids)).to.deep.equal(new Set(['$datasource']));
      expect(rest.templating.list.map(variable => variable.name)).to.deep.equal([
        'datasource',
        'namespace',
        'pool',
      ]);
    });

    it(`${name} has a description and a unit for every panel`, () => {
      for (const { title, description, fieldConfig } of shown) {
        expect(description, title).to.match(/^[A-Z].{60,}\.$/s);
        expect(fieldConfig?.defaults.unit, title).not.to.equal(undefined);
      }
    });

    it(`${name} has unique IDs, titles and query letters, and panels that do not overlap`, () => {
      expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
      expect(new Set(shown.map(({ title }) => title)).size).to.equal(shown.length);
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
      );
      expect(new Set(cells).size).to.equal(cells.length);
      for (const { gridPos } of panels) expect(gridPos.x + gridPos.w).to.be.at.most(24);
      for (const { targets = [] } of panels)
        expect(new Set(targets.map(({ refId }) => refId)).size).to.equal(targets.length);
    });
  }

  it('have unique titles and UIDs', () => {
    expect(Object.values(boards).map(({ title }) => title)).to.deep.equal([
      'Pressroom / Service',
      'Pressroom / Capacity',
      'Pressroom / Controller and dependencies',
    ]);
    expect(new Set(Object.values(boards).map(({ uid }) => uid)).size).to.equal(3);
  });

  it('use only metrics and labels that a process or a recording rule provides', () => {
    const provided = new Map<string, string[]>(
      allMetrics().map(({ name, labels }) => [name, [...labels]]),
    );
    const recorded = new Set(rules.flatMap(rule => ('record' in rule ? [rule.record] : [])));
    for (const expr of expressions)
      for (const [, name, where] of expr.matchAll(/(pressroom[a-z0-9_:]+)\{([^}]*)\}/g)) {
        const metric =
          provided.get(name!) ?? provided.get(name!.replace(/_(bucket|count|sum)$/, ''));
        expect(metric !== undefined || recorded.has(name!), name!).to.equal(true);
        const used = [...where!.matchAll(/(\w+)(?:=~|!=|!~|=)"/g)].map(match => match[1]!);
        const known = [...(metric ?? []), 'namespace', 'pod', 'pool', 'le'];
        expect(known, `${name} in ${expr}`).to.include.members(used);
      }
  });

  it('attribute each reason of a failed render to the service or to the page', () => {
    expect(`${PAGES}|${OURS}`.split('|').sort()).to.deep.equal([...RENDER_FAILED_REASONS].sort());
  });
});

describe('runbook', () => {
  const sections = new Map(
    [...runbook.matchAll(/^## (\S+)\n([\s\S]*?)(?=^## |$(?![\s\S]))/gm)].map(match => [
      match[1]!,
      match[2]!,
    ]),
  );

  it('has exactly one section for each alert', () => {
    expect([...sections.keys()].sort()).to.deep.equal(
      [...new Set(alerts.map(({ alert }) => alert))].sort(),
    );
  });

  it('is linked from the alerts', () => {
    for (const { alert, annotations } of alerts)
      expect(annotations.runbook_url).to.equal(`RUNBOOK_URL#${alert.toLowerCase()}`);
  });

  it('contains every part in each section', () => {
    for (const [name, text] of sections)
      for (const part of ['Meaning', 'Impact', 'Diagnosis', 'Mitigation'])
        expect(text, name).to.include(`**${part}.**`);
  });

  it('references only existing panels and sections', () => {
    const panels = new Set(
      Object.values(boards).flatMap(({ rows }) =>
        rows.flatMap(row => row.panels.map(({ title }) => title)),
      ),
    );
    for (const [, board, rest] of runbook.matchAll(
      /\*(Service|Capacity|Controller and dependencies)\*[:,] ((?:"[^"]+"(?: \([^)]*\))?(?:, | and )?)+)/g,
    ))
      for (const [, title] of rest!.matchAll(/"([^"]+)"(?! *:)/g))
        expect(
          [...panels].some(panel => panel === title),
          `"${title}" on ${board}`,
        ).to.equal(true);
    const anchors = [...sections.keys()].map(section => section.toLowerCase());
    for (const [, anchor] of runbook.matchAll(/\]\(#(\S+?)\)/g))
      expect(anchors).to.include(anchor!);
  });
});
