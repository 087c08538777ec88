// @proves unknown-fields, margin.right, margin.bottom, metadata.title, metadata.author
// @proves metadata.subject, metadata.keywords

import { expect } from 'chai';
import { z } from 'zod';
import type { JsonSchema } from '../../../../common/contract/json-schema.ts';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { PUBLIC } from '../../../support/request-error.ts';
import {
  description,
  requestFields as fields,
  requestSchema,
} from '../../../support/request-fields.ts';

const properties = requestSchema.properties as Record<string, JsonSchema>;
const GOOD_COOKIE = { name: 'a', value: 'b', domain: 'example.com', secure: true };

/** An otherwise valid request in which the field has this value. */
function requestWith(field: string, value: unknown): Record<string, unknown> {
  if (field === 'html' || field === 'url') return { [field]: value };
  if (field === 'auth') return { url: 'https://example.com/', auth: value };
  if (field === 'paper_width') return { html: 'x', paper_height: '5in', [field]: value };
  if (field === 'paper_height') return { html: 'x', paper_width: '5in', [field]: value };
  const [outer = '', inner] = field.split('.');
  if (inner === undefined) return { html: 'x', [field]: value };
  if (outer === 'cookies') return { html: 'x', cookies: [{ ...GOOD_COOKIE, [inner]: value }] };
  if (outer === 'auth')
    return { url: 'https://example.com/', auth: { username: 'a', password: 'b', [inner]: value } };
  return { html: 'x', [outer]: { [inner]: value } };
}

describe('the schema of a render request', () => {
  it('has exactly the fields of the specification, and the additions to it', () => {
    expect(fields.map(([name]) => name)).to.have.members(
      `html url format paper_width paper_height landscape print_background scale zoom margin pages single_page emulate_media raise_for_status
       wait_delay wait_for_selector wait_for_expression wait_for_network_idle header footer cookies extra_http_headers auth css javascript
       lazy_load_images metadata sandbox margin.top margin.right margin.bottom margin.left header.html header.height footer.html footer.height
       cookies.name cookies.value cookies.domain cookies.path cookies.secure cookies.http_only cookies.same_site auth.username auth.password
       metadata.title metadata.author metadata.subject metadata.keywords
       filename reference finish_animations timeout fail_on_resource_error prefer_css_page_size`.split(
        /\s+/,
      ),
    );
  });

  it('rejects unknown members and lists the required ones', () => {
    const objects = [
      (properties['margin']!.anyOf as JsonSchema[])[0]!,
      ...['header', 'footer', 'auth', 'metadata'].map(name => properties[name]!),
      properties['cookies']!.items as JsonSchema,
    ];
    for (const schema of objects) expect(schema.additionalProperties).to.equal(false);
    expect(objects.map(({ required }) => required)).to.deep.equal([
      undefined,
      undefined,
      undefined,
      ['username', 'password'],
      undefined,
      ['name', 'value', 'domain'],
    ]);
  });

  it('limits lists and objects, and has patterns for header names and values', () => {
    expect(properties['cookies']!.maxItems).to.equal(180);
    const { maxProperties, propertyNames, additionalProperties } = properties[
      'extra_http_headers'
    ]! as Record<string, JsonSchema>;
    expect(maxProperties).to.equal(64);
    expect(propertyNames).to.include({ type: 'string', maxLength: 256 });
    expect(additionalProperties).to.include({ type: 'string', maxLength: 8_192 });
    const [name, value] = [
      new RegExp(propertyNames!.pattern!, 'u'),
      new RegExp(additionalProperties!.pattern!, 'u'),
    ];
    expect(['X-A', 'a b', 'X:', ''].map(text => name.test(text))).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
    expect(['', '\ta é', 'a\n', 'あ', '\u0085'].map(text => value.test(text))).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('limits the length of every text', () => {
    const lengths = Object.fromEntries(
      fields.flatMap(([name, { maxLength }]) =>
        maxLength === undefined ? [] : [[name, maxLength]],
      ),
    );
    expect(lengths).to.deep.equal({
      url: 8_192,
      'header.html': 65_536,
      'footer.html': 65_536,
      pages: 4_096,
      'cookies.name': 4_096,
      'cookies.value': 4_096,
      'cookies.domain': 254,
      'cookies.path': 1_024,
      'auth.username': 4_096,
      'auth.password': 4_096,
      css: 262_144,
      javascript: 262_144,
      wait_for_selector: 4_096,
      wait_for_expression: 65_536,
      'metadata.title': 2_048,
      'metadata.author': 2_048,
      'metadata.subject': 2_048,
      'metadata.keywords': 2_048,
      filename: 80,
      reference: 128,
    });
  });

  it('has patterns that reject what the contract rejects', () => {
    const REJECTED: [field: string, values: string[]][] = [
      ['cookies.name', ['', 'a b', 'a=b', 'é']],
      ['cookies.value', [' a', 'a ', 'a;b', 'a\n', ' ']],
      ['cookies.domain', ['', '.', 'a..b', 'a:80', 'http://a', '::1', 'é.com']],
      ['cookies.path', ['', 'a', '/;', '/ ', '/?']],
      ['auth.username', ['a:b', 'a\n']],
      ['auth.password', ['a\n']],
      ['header.height', ['-1', '1em', '']],
      ['metadata.title', ['a\u0000', 'a\u000b', 'a\u007f']],
      ['css', [' ', '\n']],
    ];
    const schemas = Object.fromEntries(fields);
    for (const [field, values] of REJECTED) {
      const pattern = new RegExp(schemas[field]!.pattern!, 'u');
      for (const value of values) {
        expect(pattern.test(value), `${field} ${JSON.stringify(value)}`).to.equal(false);
        expect(() => parseRenderRequest(requestWith(field, value), PUBLIC)).to.throw(
          `${field.replace('cookies.', 'cookies.0.')}\``,
        );
      }
    }
  });

  it('rejects unknown fields and requires html or url and both paper sides', () => {
    expect(requestSchema.additionalProperties).to.equal(false);
    expect(requestSchema).to.deep.include({
      if: { required: ['html'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { not: { required: ['url'] } },
      else: { required: ['url'] },
    });
    expect(requestSchema['dependentRequired']).to.deep.equal({
      paper_width: ['paper_height'],
      paper_height: ['paper_width'],
    });
  });

  it('has a description and an example of every field', () => {
    for (const [name, { description, examples }] of fields) {
      expect(description, name).to.match(/^[A-Z].{15,}\.$/);
      expect(examples, name).to.be.an('array').with.length.above(0);
    }
  });

  it('has the limits of the contract for every field', () => {
    for (const name of ['scale', 'zoom'])
      expect(properties[name], name).to.include({ minimum: 0.1, maximum: 2 });
    for (const [name, schema] of fields.filter(([field]) =>
      /^(format|paper_\w+|pages|wait_delay|timeout|url|margin\..*)$/.test(field),
    )) {
      expect(((schema.anyOf?.[0] as JsonSchema | undefined) ?? schema).pattern, name).to.match(
        /^\^/,
      );
    }
    for (const name of ['html', 'url', 'pages', 'wait_for_selector', 'wait_for_expression'])
      expect(properties[name]!.minLength, name).to.equal(1);
    expect(properties['url']!.maxLength).to.equal(8_192);
    expect(properties['emulate_media']!.enum).to.deep.equal(['print', 'screen']);
  });

  for (const [name, schema] of fields) {
    const values = [
      ...(schema.examples ?? []),
      ...(schema.default === undefined ? [] : [schema.default]),
    ];
    it(`has valid examples and a valid default of ${name} that match its pattern`, () => {
      for (const value of values) {
        parseRenderRequest(requestWith(name, value), PUBLIC);
        if (schema.pattern) expect(value).to.match(new RegExp(schema.pattern, 'u'));
      }
    });
  }

  it('has the documented defaults', () => {
    const defaults = Object.fromEntries(
      fields
        .filter(([, schema]) => schema.default !== undefined)
        .map(([name, schema]) => [name, schema.default]),
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
      'cookies.path': '/',
      'cookies.secure': false,
      'cookies.http_only': false,
      lazy_load_images: false,
      finish_animations: false,
      fail_on_resource_error: false,
      prefer_css_page_size: false,
      sandbox: false,
      wait_delay: '0',
      wait_for_network_idle: false,
    });
  });

  it('has valid complete examples', () => {
    const shown = Object.values(
      description.paths['/v1/render']!['post']!.requestBody!.content['application/json']!.examples,
    ) as {
      value: unknown;
    }[];
    expect(shown.map(({ value }) => value)).to.deep.equal(requestSchema.examples);
    for (const { value } of shown) expect(parseRenderRequest(value, PUBLIC)).to.deep.equal(value);
  });

  it('can be parsed as a schema that accepts the examples and rejects values over the limits', () => {
    // zod does not read the keywords that span fields, which are checked above.
    const { if: _if, then: _then, else: _else, dependentRequired: _, ...schema } = requestSchema;
    const readBack = z.fromJSONSchema(schema as never);
    for (const example of requestSchema.examples as unknown[])
      expect(readBack.safeParse(example).success).to.equal(true);
    for (const wrong of [
      { scale: 3 },
      { scale: '1' },
      { html: '' },
      { format: 'B5' },
      { pages: '0' },
      { wait_delay: '5' },
      { timeout: '5' },
      { margin: { top: '-1' } },
      { margin: '-1' },
      { margin: 20 },
      { css: ' ' },
      { header: { hight: '1' } },
      { cookies: [{ name: 'a', value: 'b' }] },
      { auth: { username: 'a:', password: 'b' } },
      { metadata: { title: 5 } },
      { sandbox: 'yes' },
    ]) {
      expect(readBack.safeParse({ html: 'x', ...wrong }).success, JSON.stringify(wrong)).to.equal(
        false,
      );
    }
  });
});
