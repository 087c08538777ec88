import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { type Installation, installation } from '../../support/installation.ts';

const CHART = new URL('../../../charts/pressroom/', import.meta.url);

interface Rules {
  groups: { rules: { alert?: string; annotations?: { runbook_url?: string } }[] }[];
}

describe('the runbook at /docs/runbook', () => {
  let pressroom: Installation;
  let page: Response;
  let html: string;
  before(async () => {
    pressroom = await installation();
    page = await fetch(`${pressroom.url}/docs/runbook`);
    html = await page.text();
  });
  after(() => pressroom.stop());

  it('has a section for each alert', () => {
    const { groups } = parse(readFileSync(new URL('rules/pressroom.yaml', CHART), 'utf8')) as Rules;
    const links = groups.flatMap(({ rules }) =>
      rules.flatMap(({ annotations }) => annotations?.runbook_url ?? []),
    );
    expect(links).to.have.length.greaterThan(10);
    for (const link of links) expect(html).to.include(`<h2 id="${link.replace(/^.*#/, '')}">`);
  });

  it('has each section of its contents once', () => {
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
    expect(ids).to.have.length(new Set(ids).size);
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) expect(ids).to.include(target);
  });

  it('loads nothing from other hosts', () => {
    expect(page.headers.get('content-security-policy')).to.match(
      /^default-src 'none'; style-src 'sha256-/,
    );
    expect(html).not.to.match(/\ssrc=|<link/);
  });
});
