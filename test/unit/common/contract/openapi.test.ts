// @proves POST /v1/render, GET /healthz, error-envelope, mcp-discovery

import { expect } from 'chai';
import {
  errorEnvelopeSchema,
  healthSchema,
  readinessSchema,
} from '../../../../common/contract/answers.ts';
import type { JsonSchema } from '../../../../common/contract/json-schema.ts';
import { openApi } from '../../../../common/contract/openapi.ts';
import { ASYNC_OPERATIONS } from '../../../../common/contract/openapi-async.ts';
import type { Operation } from '../../../../common/contract/openapi-parts.ts';
import { generatorProblems } from '../../../support/openapi-rules.ts';
import { description as document } from '../../../support/request-fields.ts';

const operations = Object.values(document.paths).flatMap(methods => Object.values(methods));
const render = document.paths['/v1/render']!['post']!;

const refs = (value: unknown): string[] =>
  [...JSON.stringify(value).matchAll(/"\$ref":"([^"]+)"/g)].map(match => match[1]!);
const examplesOf = (operation: Operation, status: string) =>
  Object.values(operation.responses[status]!.content)[0]!;

describe('the OpenAPI document', () => {
  it('has version 0.1.0, uses OpenAPI 3.1 and survives JSON', () => {
    expect(document).to.deep.include({
      openapi: '3.1.0',
      servers: [{ url: 'https://pdf.example.com' }],
    });
    expect(document.info.version).to.equal('0.1.0');
    expect(JSON.parse(JSON.stringify(document))).to.deep.equal(document);
  });

  it('has exactly the paths of this release', () => {
    expect(
      Object.entries(document.paths).map(([path, methods]) => [path, Object.keys(methods)]),
    ).to.deep.equal([
      ['/v1/render', ['post']],
      ['/v1/trial/render', ['post']],
      ['/v1/account', ['get']],
      ['/v1/usage', ['get']],
      ['/healthz', ['get']],
      ['/readyz', ['get']],
    ]);
  });

  it('names the URL of the MCP tool when it is on', () => {
    expect(document.info.description).to.equal('Turn HTML or a public URL into a PDF.');
    const withTool = openApi({
      publicUrl: 'https://pdf.example.com',
      mcpUrl: 'https://pdf.example.com/mcp',
    });
    expect(withTool.info.description)
      .to.include('`render_pdf` at `https://pdf.example.com/mcp`')
      .and.include('uses OAuth with the dashboard instead of an API key');
  });

  it('suits client generators: named objects, valid examples, one envelope, no default', () => {
    expect(generatorProblems(document)).to.deep.equal([]);
  });

  it('has the paths of asynchronous renders when they are on', () => {
    const withAsync = openApi({ publicUrl: 'https://pdf.example.com', asyncRenders: true });
    const operations = Object.entries(ASYNC_OPERATIONS).map(
      ([operationId, { method, path }]) =>
        withAsync.paths[path]![method]!.operationId === operationId,
    );
    expect(operations).to.deep.equal(Array(8).fill(true));
    expect(withAsync.components.schemas).to.include.keys(
      'AsyncRender',
      'AsyncRenderRequest',
      'Batch',
      'BatchRequest',
    );
    expect(generatorProblems(withAsync)).to.deep.equal([]);
    const names = refs(withAsync).map(ref => ref.split('/').slice(2));
    for (const [kind, name] of names)
      expect((withAsync.components as Record<string, object>)[kind!]).to.have.property(name!);
  });

  it('is checked for what client generators misread', () => {
    const broken = structuredClone(document);
    const { RenderRequest, Health } = broken.components.schemas as Record<string, JsonSchema>;
    const properties = RenderRequest!.properties as Record<string, JsonSchema>;
    properties['format']!.default = 'A4';
    properties['scale']!.examples = [3];
    properties['margin'] = { type: 'object', properties: { top: { type: 'string' } } };
    Object.assign(Health!, { oneOf: [{ pattern: '\\P{C}' }] });
    Object.assign(broken.paths['/healthz']!['get']!, { tags: ['Other'], operationId: 'render' });
    const example = render.requestBody!.content['application/json']!.examples['html'];
    const body = broken.paths['/v1/render']!['post']!.requestBody!.content['application/json']!;
    Object.assign(body.examples, {
      both: { ...(example as object), value: { html: 'a', url: 'b' } },
    });
    delete broken.paths['/readyz']!['get']!.responses['200']!.headers['X-Request-Id'];
    expect(generatorProblems(broken).map(problem => problem.replace(/: data.*/, ''))).to.deep.equal(
      [
        '/paths/~1v1~1render/post/requestBody/content/application~1json',
        '/components/schemas/RenderRequest/properties/scale',
        '/components/schemas/RenderRequest/properties/margin: an object without a name',
        'render: not unique',
        'render: no known tag',
        'readiness 200: no X-Request-Id',
        '/components/schemas/RenderRequest/properties/format: default',
        '/components/schemas/Health: oneOf',
        '/components/schemas/Health/oneOf/0: a Unicode class',
      ],
    );
  });

  it('states each default in the description of its field', () => {
    const { RenderRequest, RenderRequestMargin } = document.components.schemas;
    const of = (schema: JsonSchema | undefined, name: string) =>
      (schema!.properties as Record<string, JsonSchema>)[name];
    expect(of(RenderRequest, 'format')).to.include({ 'x-default': 'A4' });
    expect(of(RenderRequest, 'format')!.description).to.match(/ Default: `A4`\.$/);
    expect(of(RenderRequest, 'print_background')!.description).to.match(/ Default: `true`\.$/);
    expect(of(RenderRequestMargin, 'top')!.description).to.match(/ Default: `0\.4in`\.$/);
  });

  it('has only references that resolve', () => {
    expect(refs(document)).to.have.length.above(20);
    for (const ref of refs(document)) {
      const target = ref
        .slice('#/'.length)
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document);
      expect(target, ref).to.be.an('object');
    }
  });

  it('has all responses of the specification, each with a request ID', () => {
    expect(Object.keys(render.responses)).to.deep.equal([
      '200',
      '400',
      '401',
      '403',
      '422',
      '429',
      '502',
    ]);
    for (const { responses } of operations)
      for (const { headers } of Object.values(responses))
        expect(headers).to.have.property('X-Request-Id');
    expect(render.security).to.deep.equal([{ apiKey: [] }]);
    expect(Object.keys(render.responses['200']!.headers)).to.include.members([
      'X-Usage-Count',
      'X-Sandbox',
      'X-Pdf-Pages',
      'Server-Timing',
      'Content-Disposition',
    ]);
    expect(Object.keys(render.responses['429']!.headers)).to.include.members([
      'Retry-After',
      'X-Concurrency-Limit',
    ]);
    expect(Object.keys(render.responses['502']!.headers)).to.include('Retry-After');
    expect(Object.keys(render.responses['401']!.headers)).to.include('WWW-Authenticate');
  });

  it('has a valid example for every error code of a render', () => {
    const seen = Object.keys(render.responses)
      .filter(status => status !== '200')
      .flatMap(status =>
        Object.entries(examplesOf(render, status).examples!).map(([code, { value }]) => {
          expect(errorEnvelopeSchema.parse(value).error.code).to.equal(code);
          expect('reason' in errorEnvelopeSchema.parse(value).error).to.equal(
            code === 'render_failed',
          );
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

  it('has health examples that match their schemas', () => {
    expect(
      healthSchema.parse(examplesOf(document.paths['/healthz']!['get']!, '200').example),
    ).to.deep.equal({ status: 'ok' });
    for (const status of ['200', '503'])
      readinessSchema.parse(examplesOf(document.paths['/readyz']!['get']!, status).example);
  });
});
