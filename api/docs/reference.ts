// The API reference at /docs, generated from the OpenAPI document.

import { errorEnvelopeSchema } from '../../common/contract/answers.ts';
import { type JsonSchema, jsonSchema, membersOf } from '../../common/contract/json-schema.ts';
import { type Markup, markup, prose } from '../../common/contract/markup.ts';
import type { OpenApi } from '../../common/contract/openapi.ts';
import type { Operation } from '../../common/contract/openapi-parts.ts';
import { renderRequestSchema } from '../../common/contract/render-request.ts';
import { type Json, snippets } from '../../common/contract/snippets.ts';
import { type DocsSite, docsShell } from './shell.ts';
import { tryForm, tryScript } from './try.ts';

const typeOf = (schema: JsonSchema): string =>
  schema.anyOf
    ? schema.anyOf.map(typeOf).join(' or ')
    : schema.enum
      ? schema.enum.map(value => JSON.stringify(value)).join(' or ')
      : schema.format
        ? `${schema.type} (${schema.format})`
        : `${schema.type}`;

function facts(schema: JsonSchema): Markup {
  const facts = [typeOf(schema)];
  if (schema.minimum !== undefined) facts.push(`${schema.minimum} to ${schema.maximum}`);
  if (schema.maxItems !== undefined) facts.push(`at most ${schema.maxItems}`);
  if (schema.maxProperties !== undefined) facts.push(`at most ${schema.maxProperties}`);
  if (schema.maxLength !== undefined) facts.push(`at most ${schema.maxLength} characters`);
  const byDefault =
    schema.default === undefined
      ? undefined
      : markup` · default <code>${JSON.stringify(schema.default)}</code>`;
  return markup`<p class="facts">${facts.join(' · ')}${byDefault}</p>`;
}

const examples = ({ examples: values }: JsonSchema) =>
  values?.length
    ? markup`<p class="examples">${values.length > 1 ? 'Examples' : 'Example'}: ${values.map(
        (value, index) => [
          index > 0 ? ' ' : undefined,
          markup`<code>${JSON.stringify(value)}</code>`,
        ],
      )}</p>`
    : undefined;

/** `anchor`: the start of the element's ID, for names that occur in several operations. */
function field([name, schema]: [string, JsonSchema], prefix = '', anchor = 'field-'): Markup {
  const inner = membersOf(schema);
  const id = `${prefix}${name}`;
  return markup`<div class="row" id="${anchor}${id}">
<div><h4>${id}</h4>${facts(schema)}</div>
<div><p>${prose(schema.description ?? '')}</p>${examples(schema)}</div>
${inner.length > 0 ? markup`<div class="inner">${inner.map(row => field(row, `${id}.`))}</div>` : undefined}
</div>`;
}

/** A request in all languages. The page shows one at a time. */
const samples = (base: string, path: string, body: unknown) =>
  markup`<div class="samples">${snippets(base + path, body as { [name: string]: Json }).map(
    ({ id, label, code: text }) =>
      markup`<figure data-language="${id}"><figcaption>${label}</figcaption>${code(text)}</figure>`,
  )}</div>`;

/** Focusable, so that it can be scrolled with the keyboard. */
const code = (text: string) => markup`<pre tabindex="0"><code>${text}</code></pre>`;
const json = (value: unknown) => code(JSON.stringify(value, null, 2));

const headerNames = (headers: Record<string, unknown>) =>
  markup`<p class="examples">Headers: ${Object.keys(headers).map((name, index) => [index > 0 ? ', ' : undefined, markup`<code>${name}</code>`])}</p>`;

const answers = ({ responses }: Operation) =>
  markup`<div class="rows">${Object.entries(responses).map(
    ([status, { description, headers, content }]) => {
      const [type = '', { example, examples: named = {} } = {}] = Object.entries(content)[0] ?? [];
      const shown =
        example === undefined
          ? Object.entries(named).map(([name, { value }]) => ({ name, value }))
          : [{ name: 'body', value: example }];
      const sentences = Object.entries(named).map(
        ([name, { summary }]) => markup`<p><code>${name}</code>: ${prose(summary)}</p>`,
      );
      return markup`<div class="row"><div><h4><span class="status code${status < '300' ? ' ok' : ''}">${status}</span></h4><p class="facts">${type}</p></div>
<div>${sentences.length > 0 ? sentences : markup`<p>${prose(description)}</p>`}${headerNames(headers)}
${shown.map(({ name, value }) => markup`<details><summary>Example: ${name}</summary>${json(value)}</details>`)}</div></div>`;
    },
  )}</div>`;

const endpoint = (base: string, method: string, path: string) =>
  markup`<p class="endpoint"><span class="method">${method}</span><span>${base}${path}</span></p>`;

const operation = (base: string, path: string, method: string, described: Operation) => markup`
<h2 id="${described.operationId}">${described.summary}</h2>
${endpoint(base, method, path)}
<p>${prose(described.description)}</p>`;

/** The schema itself, or the component that it refers to. */
const resolved = (schema: JsonSchema, { components }: OpenApi): JsonSchema => {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? schema : components.schemas[name]!;
};

const parameters = ({ operationId, parameters: all }: Operation, document: OpenApi) =>
  all &&
  markup`<h3 id="${operationId}-parameters">Parameters</h3>
<div class="rows">${all.map(({ name, description, schema }) =>
    field([name, { ...resolved(schema, document), description }], '', `${operationId}-`),
  )}</div>`;

/** The fields of a body that a render request does not have. */
const extraFields = ({ requestBody }: Operation, request: JsonSchema, document: OpenApi) => {
  const [content] = Object.values(requestBody?.content ?? {});
  const names = new Set(membersOf(request).map(([name]) => name));
  const added = membersOf(resolved((content?.schema ?? {}) as JsonSchema, document)).filter(
    ([name]) => !names.has(name),
  );
  return added.length === 0
    ? undefined
    : markup`<p>It has these additional fields:</p>
<div class="rows">${added.map(row => field(row))}</div>`;
};

const reasons = (envelope: JsonSchema) => {
  const error = membersOf(envelope).find(([name]) => name === 'error')?.[1];
  return markup`<div class="rows">${membersOf(error ?? {}).map(row => field(row, 'error.'))}</div>`;
};

/** Removes duplicates: operations with the same body have the same examples. */
const firstOfItsSummary = <T extends { summary: string }>(example: T, index: number, all: T[]) =>
  all.findIndex(({ summary }) => summary === example.summary) === index;

export function referencePage(site: DocsSite, document: OpenApi): string {
  const base = site.publicUrl;
  const { headers } = document.components;
  const [request, envelope] = [
    jsonSchema(renderRequestSchema, 'input'),
    jsonSchema(errorEnvelopeSchema, 'input'),
  ];
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method, described })),
  );
  const body = (described: Operation) =>
    Object.values(described.requestBody?.content ?? {})[0]?.examples as Record<
      string,
      { summary: string; value: unknown }
    >;
  const [first, ...others] = operations.filter(({ described }) => described.requestBody);
  const details = operations.map(({ path, method, described }) => {
    const answered = markup`<h3 id="${described.operationId}-answers">Responses</h3>${answers(described)}`;
    if (others.some(other => other.described === described))
      return markup`${operation(base, path, method, described)}
<p>The request body is the same as for <a href="#${first!.described.operationId}">${first!.described.summary}</a>.</p>${extraFields(described, request, document)}${answered}`;
    if (first?.described !== described)
      return markup`${operation(base, path, method, described)}${parameters(described, document)}${answered}`;
    return markup`${operation(base, path, method, described)}
${Object.values(body(described)).map(({ summary, value }) => markup`<h3>${summary}</h3>${samples(base, path, value)}`)}
<h3 id="fields">Fields</h3>
<p>${prose('The body is a JSON object. Unknown fields and `null` values are rejected. Lengths are strings.')}</p>
<div class="rows">${membersOf(request).map(row => field(row))}</div>
${answered}`;
  });
  return docsShell(site, {
    path: '/docs',
    title: `${document.info.title} API`,
    contents: markup`<ul>
<li><a href="#authentication">Authentication</a></li>
<li><a href="#try-it">Try it</a></li>
${operations.map(({ described }) => markup`<li><a href="#${described.operationId}">${described.summary}</a></li>`)}
<li><a href="#headers">Headers</a></li>
<li><a href="#errors">Errors</a></li>
<li><a href="#fields">Fields</a>
<ul>${membersOf(request).map(([name]) => markup`<li><a href="#field-${name}"><code>${name}</code></a></li>`)}</ul></li>
</ul>`,
    main: markup`<h1>${document.info.title} API</h1>
<p class="lead">${prose(document.info.description)}</p>
<p>Base URL: <code>${base}</code>. OpenAPI document: <a href="/openapi.json">/openapi.json</a> (OpenAPI ${document.openapi}).</p>
<h2 id="authentication">Authentication</h2>
<p>${prose('Authenticate with an API key in the header `Authorization: Bearer <API key>`. A key looks like `pressroom_live_…` and is shown once, when you create it. Renders with a test key (`pressroom_test_…`) have a watermark and are not counted. Never put a key in client-side code or a repository.')}</p>
<p class="note">If a key leaks, revoke it immediately; revocation takes effect at once.</p>
${tryForm(
  operations
    .filter(({ described }) => described.requestBody && described.responses['200'])
    .map(({ path, described }) => ({
      path,
      summary: described.summary,
      needsKey: described.security.length > 0,
    })),
  operations
    .flatMap(({ described }) => Object.values(body(described) ?? {}))
    .filter(firstOfItsSummary),
  site.dashboard ? 'app/keys' : undefined,
)}
${details}
<h2 id="headers">Headers</h2>
<p>The response headers.</p>
<div class="rows">${Object.entries(headers).map(
      ([
        name,
        { description, example },
      ]) => markup`<div class="row"><h3>${name}</h3><div><p>${prose(description)}</p>
<p class="examples">Example: <code>${String(example)}</code></p></div></div>`,
    )}</div>
<h2 id="errors">Errors</h2>
<p>${prose(envelope.description ?? '')}</p>
<h3>Members</h3>
${reasons(envelope)}
<footer>${document.info.title} ${document.info.version}</footer>`,
    script: tryScript,
  });
}
