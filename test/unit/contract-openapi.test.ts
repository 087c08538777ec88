import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { z } from 'zod';
import { errorEnvelopeSchema, healthSchema, readinessSchema } from '../../api/contract/answers.ts';
import { docsPage } from '../../api/contract/docs-page.ts';
import { docsStyleSource } from '../../api/contract/docs-style.ts';
import { type JsonSchema, type Operation, openApi } from '../../api/contract/openapi.ts';
import { parseRenderRequest } from '../../api/contract/render-request.ts';
import { PUBLIC } from '../support/refusal.ts';

const document = openApi({ publicUrl: 'https://pdf.example.com' });
const operations = Object.values(document.paths).flatMap(methods => Object.values(methods));
const render = document.paths['/v1/render']!['post']!;
const properties = document.components.schemas.RenderRequest.properties as Record<string, JsonSchema>;
const margins = properties['margin']!.properties as Record<string, JsonSchema>;
const fields = [...Object.entries(properties), ...Object.entries(margins).map(([side, schema]) => [`margin.${side}`, schema] as const)];

/** A request in which the field has this value and nothing else is wrong. */
function requestWith(field: string, value: unknown): Record<string, unknown> {
  if (field === 'html' || field === 'url') return { [field]: value };
  if (field.startsWith('margin.')) return { html: 'x', margin: { [field.slice('margin.'.length)]: value } };
  if (field === 'paper_width') return { html: 'x', paper_height: '5in', [field]: value };
  if (field === 'paper_height') return { html: 'x', paper_width: '5in', [field]: value };
  return { html: 'x', [field]: value };
}

const refs = (value: unknown): string[] => [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1]!);
const examplesOf = (operation: Operation, status: string) => Object.values(operation.responses[status]!.content)[0]!;

describe('the OpenAPI description', () => {
  it('is version 0.1.0 of OpenAPI 3.1 and survives JSON', () => {
    expect(document).to.deep.include({ openapi: '3.1.0', servers: [{ url: 'https://pdf.example.com' }] });
    expect(document.info.version).to.equal('0.1.0');
    expect(JSON.parse(JSON.stringify(document))).to.deep.equal(document);
  });

  it('has exactly the paths of this release', () => {
    expect(Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)])).to.deep.equal([
      ['/v1/render', ['post']],
      ['/healthz', ['get']],
      ['/readyz', ['get']],
    ]);
  });

  it('refers only to what it holds', () => {
    expect(refs(document)).to.have.length.above(20);
    for (const ref of refs(document)) {
      const target = ref
        .slice('#/'.length)
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
      expect(target, ref).to.be.an('object');
    }
  });

  it('has all the answers that the specification lists, each with a request id', () => {
    expect(Object.keys(render.responses)).to.deep.equal(['200', '400', '401', '403', '422', '429', '502']);
    for (const { responses } of operations)
      for (const { headers } of Object.values(responses)) expect(headers).to.have.property('X-Request-Id');
    expect(render.security).to.deep.equal([{ apiKey: [] }]);
    expect(Object.keys(render.responses['200']!.headers)).to.include.members([
      'X-Usage-Count',
      'X-Sandbox',
      'X-Pdf-Pages',
      'Server-Timing',
      'Content-Disposition',
    ]);
    expect(Object.keys(render.responses['429']!.headers)).to.include.members(['Retry-After', 'X-Concurrency-Limit']);
    expect(Object.keys(render.responses['502']!.headers)).to.include('Retry-After');
    expect(Object.keys(render.responses['401']!.headers)).to.include('WWW-Authenticate');
  });

  it('shows an envelope that is right for every error code of a render', () => {
    const seen = Object.keys(render.responses)
      .filter(status => status !== '200')
      .flatMap(status =>
        Object.entries(examplesOf(render, status).examples!).map(([code, { value }]) => {
          expect(errorEnvelopeSchema.parse(value).error.code).to.equal(code);
          expect('reason' in errorEnvelopeSchema.parse(value).error).to.equal(code === 'render_failed');
          return `${status} ${code}`;
        }),
      );
    expect(seen).to.have.members([
      '400 validation_error',
      '400 payload_too_large',
      '401 unauthorized',
      '403 subscription_inactive',
      '422 ssrf_blocked',
      '429 concurrency_limit',
      '502 render_failed',
    ]);
  });

  it('shows health answers that fit their schemas', () => {
    expect(healthSchema.parse(examplesOf(document.paths['/healthz']!['get']!, '200').example)).to.deep.equal({ status: 'ok' });
    for (const status of ['200', '503']) readinessSchema.parse(examplesOf(document.paths['/readyz']!['get']!, status).example);
  });
});

describe('the schema of a render request', () => {
  it('has every field that this release supports and none that it does not', () => {
    expect(Object.keys(properties)).to.have.members(
      `html url format paper_width paper_height landscape print_background scale zoom margin pages single_page emulate_media raise_for_status
       wait_delay wait_for_selector wait_for_expression wait_for_network_idle`.split(/\s+/),
    );
    expect(Object.keys(margins)).to.deep.equal(['top', 'right', 'bottom', 'left']);
  });

  it('refuses unknown fields, and wants html or url and both paper sides', () => {
    const { RenderRequest } = document.components.schemas;
    expect(RenderRequest.additionalProperties).to.equal(false);
    expect(properties['margin']!.additionalProperties).to.equal(false);
    expect(RenderRequest.oneOf).to.deep.equal([{ required: ['html'] }, { required: ['url'] }]);
    expect(RenderRequest['dependentRequired']).to.deep.equal({ paper_width: ['paper_height'], paper_height: ['paper_width'] });
  });

  it('describes every field in a sentence and with an example', () => {
    for (const [name, { description, examples }] of fields) {
      expect(description, name).to.match(/^[A-Z].{15,}\.$/);
      expect(examples, name).to.be.an('array').with.length.above(0);
    }
  });

  it('bounds every field that the contract bounds', () => {
    for (const name of ['scale', 'zoom']) expect(properties[name], name).to.include({ minimum: 0.1, maximum: 2 });
    for (const [name, schema] of fields.filter(([field]) => /^(format|paper_\w+|pages|wait_delay|url|margin\..*)$/.test(field))) {
      expect(schema.pattern, name).to.match(/^\^/);
    }
    for (const name of ['html', 'url', 'pages', 'wait_for_selector', 'wait_for_expression'])
      expect(properties[name]!.minLength, name).to.equal(1);
    expect(properties['url']!.maxLength).to.equal(8_192);
    expect(properties['emulate_media']!.enum).to.deep.equal(['print', 'screen']);
  });

  for (const [name, schema] of fields) {
    const values = [...(schema.examples ?? []), ...(schema.default === undefined ? [] : [schema.default])];
    it(`gives examples and a default of ${name} that are accepted and fit its pattern`, () => {
      for (const value of values) {
        parseRenderRequest(requestWith(name, value), PUBLIC);
        if (schema.pattern) expect(value).to.match(new RegExp(schema.pattern, 'u'));
      }
    });
  }

  it('says the defaults of the decisions', () => {
    const defaults = Object.fromEntries(
      fields.filter(([, schema]) => schema.default !== undefined).map(([name, schema]) => [name, schema.default]),
    );
    expect(defaults).to.deep.equal({
      format: 'A4',
      landscape: false,
      print_background: true,
      scale: 1,
      'margin.top': '0.4in',
      'margin.right': '0.4in',
      'margin.bottom': '0.4in',
      'margin.left': '0.4in',
      single_page: false,
      emulate_media: 'print',
      wait_delay: '0',
      wait_for_network_idle: false,
    });
  });

  it('gives whole examples that are accepted', () => {
    const shown = Object.values(render.requestBody!.content['application/json']!.examples) as { value: unknown }[];
    expect(shown.map(({ value }) => value)).to.deep.equal(document.components.schemas.RenderRequest.examples);
    for (const { value } of shown) expect(parseRenderRequest(value, PUBLIC)).to.deep.equal(value);
  });

  it('can be read back as a schema, which takes the examples and refuses what is out of bounds', () => {
    // zod reads JSON Schema but for the words that span fields, which are checked above.
    const { oneOf: _, dependentRequired: __, ...schema } = document.components.schemas.RenderRequest;
    const readBack = z.fromJSONSchema(schema as never);
    for (const example of document.components.schemas.RenderRequest.examples as unknown[])
      expect(readBack.safeParse(example).success).to.equal(true);
    for (const wrong of [
      { scale: 3 },
      { scale: '1' },
      { html: '' },
      { format: 'B5' },
      { pages: '0' },
      { wait_delay: '5' },
      { margin: { top: '-1' } },
      { css: 'x' },
    ]) {
      expect(readBack.safeParse({ html: 'x', ...wrong }).success, JSON.stringify(wrong)).to.equal(false);
    }
  });
});

describe('the documentation page', () => {
  const page = docsPage(document);

  it('tells every field with its description, every header and every error code', () => {
    for (const [name] of fields) expect(page).to.contain(`id="field-${name}"`);
    for (const name of Object.keys(document.components.headers)) expect(page).to.contain(name);
    for (const status of Object.keys(render.responses)) expect(page).to.contain(`>${status}</span>`);
    expect(page).to.contain('id="field-error.reason"').and.to.contain('curl &#39;https://pdf.example.com/v1/render&#39;');
  });

  it('needs no script and no foreign host, and its one style is the one that its hash allows', () => {
    expect(page).not.to.match(/<script|<link|<img|<iframe|\sstyle=|\son\w+=|url\(|@import|src=/i);
    const styles = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)];
    expect(styles).to.have.length(1);
    expect(docsStyleSource).to.equal(`'sha256-${createHash('sha256').update(styles[0]![1]!).digest('base64')}'`);
    for (const [, target] of page.matchAll(/href="([^"]+)"/g)) expect(target).to.match(/^(#|\/openapi\.json$)/);
  });

  it('has a target for every link inside it, and each id once', () => {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(match => match[1]);
    expect(new Set(ids).size).to.equal(ids.length);
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).to.include(target);
  });

  it('escapes whatever the description holds', () => {
    const evil = `https://x.example/"><script>alert('1')</script>&`;
    const hostile = docsPage(openApi({ publicUrl: evil }));
    expect(hostile).not.to.contain('<script');
    expect(hostile).to.contain('https://x.example/&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;');
  });
});
