// @proves api-reference
import { expect } from 'chai';
import {
  hashSource,
  PAGE_SCRIPT,
  STYLE,
  THEME_SCRIPT,
  TRY_SCRIPT,
} from '../../../../api/docs/assets.ts';
import { referencePage } from '../../../../api/docs/reference.ts';
import type { DocsSite } from '../../../../api/docs/shell.ts';
import { openApi } from '../../../../common/contract/openapi.ts';
import {
  description as document,
  requestFields as fields,
} from '../../../support/request-fields.ts';

const site: DocsSite = {
  publicUrl: 'https://pdf.example.com',
  dashboard: true,
  guides: [{ path: '/docs/guides/waits', title: 'Waits' }],
};
const render = document.paths['/v1/render']!['post']!;

describe('the API reference', () => {
  const page = referencePage(site, document);

  it('contains every field with its description, every header and every error code', () => {
    for (const [name] of fields) expect(page).to.contain(`id="field-${name}"`);
    for (const name of Object.keys(document.components.headers)) expect(page).to.contain(name);
    for (const status of Object.keys(render.responses))
      expect(page).to.contain(`>${status}</span>`);
    expect(page).to.contain('id="field-error.reason"');
  });

  it('shows each example request in all languages, with the URL of the installation', () => {
    for (const language of ['curl', 'node', 'python', 'go', 'php', 'java'])
      expect(page.split(`data-language="${language}"`), language).to.have.length(3);
    expect(page).to.contain('&#39;https://pdf.example.com/v1/render&#39;');
  });

  it('loads nothing from other hosts, and has only the known stylesheet and scripts', () => {
    const withoutScript = page.replace(/<script>[\s\S]*?<\/script>/g, '');
    expect(withoutScript).not.to.match(/<link|<img|\sstyle=|\son\w+=|url\(|@import|\ssrc=/i);
    expect(page).not.to.match(/https?:\/\/(?!pdf\.example\.com|example\.com)/i);
    const inline = (tag: string) =>
      [...page.matchAll(new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`, 'g'))].map(match =>
        hashSource(match[1]!),
      );
    expect(inline('script')).to.deep.equal([THEME_SCRIPT, PAGE_SCRIPT, TRY_SCRIPT].map(hashSource));
    expect(inline('style')).to.deep.equal([hashSource(STYLE)]);
    expect(page.match(/<script|<style/g)).to.have.length(4);
  });

  it('links to the guides, and to the dashboard only when it is on', () => {
    const targets = (html: string) =>
      [...html.matchAll(/href="([^"#]+)"/g)].map(([, target]) => target);
    expect(targets(page)).to.include.members(['./docs/guides/waits', './app/', './app/keys']);
    const withoutDashboard = referencePage({ ...site, dashboard: false }, document);
    expect(targets(withoutDashboard).filter(target => target!.includes('app'))).to.deep.equal([]);
  });

  it('has a target for every internal link, and unique IDs', () => {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(match => match[1]);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).to.include(target);
  });

  it('names the URL of the MCP tool when it is on', () => {
    const described = { publicUrl: site.publicUrl, mcpUrl: 'https://pdf.example.com/mcp' };
    expect(referencePage(site, openApi(described))).to.include(
      '<code>https://pdf.example.com/mcp</code>',
    );
  });

  it('shows asynchronous renders when they are on, with unique IDs', () => {
    const described = { publicUrl: site.publicUrl, asyncRenders: true };
    const withAsync = referencePage(site, openApi(described));
    for (const text of ['/v1/renders/{id}/pdf', 'id="field-ttl"', 'id="getRender-wait"'])
      expect(withAsync).to.include(text);
    expect(withAsync).to.include('&quot;queued&quot; or &quot;running&quot;');
    expect(withAsync).not.to.include('<option value="/v1/renders"');
    const ids = [...withAsync.matchAll(/\sid="([^"]+)"/g)].map(match => match[1]);
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('escapes the texts of the document', () => {
    const publicUrl = `https://x.example/"><script>alert('1')</script>&`;
    const hostile = referencePage({ ...site, publicUrl }, openApi({ publicUrl }));
    expect(hostile.match(/<script/g)).to.have.length(3);
    expect(hostile).to.contain(
      'https://x.example/&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;',
    );
  });
});
