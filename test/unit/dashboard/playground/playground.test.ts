import { expect } from 'chai';
import { openApi } from '../../../../common/contract/openapi.ts';
import {
  completeSchema,
  found,
  labelOf,
  type PublishedSchema,
  type RequestField,
  sectionsOf,
} from '../../../../dashboard/playground/fields.ts';
import {
  callOf,
  draftFrom,
  EMPTY,
  fieldErrorsOf,
  membersIn,
  playgroundCallOf,
  requestOf,
  switchValue,
  textValue,
  withGroupMember,
  withMember,
} from '../../../../dashboard/playground/request.ts';

const { schemas } = openApi({ publicUrl: 'http://localhost:8080' }).components;
const published = schemas as Record<string, PublishedSchema>;
const schema = completeSchema(published['RenderRequest']!, published);
const sections = sectionsOf(schema);
const fields = sections.flatMap(section => section.fields);
const field = (path: string): RequestField => {
  const all = (list: RequestField[]): RequestField[] =>
    list.flatMap(each => [each, ...all(each.fields)]);
  return all(fields).find(each => each.path === path)!;
};

describe('playground form', () => {
  it('has every option of the contract exactly once', () => {
    const separate = ['html', 'url', 'sandbox'];
    const names = fields.map(({ name }) => name);
    expect(names).to.have.members(
      Object.keys(schema.properties!).filter(name => !separate.includes(name)),
    );
    expect(new Set(names).size).to.equal(names.length);
  });

  it('assigns every field to a section, and unknown fields to the last one', () => {
    expect(sections.map(({ title }) => title)).to.deep.equal([
      'Page',
      'Margins',
      'Header & footer',
      'Wait conditions',
      'HTTP',
      'CSS & JavaScript',
      'Metadata',
    ]);
    const later = sectionsOf({
      properties: { ...schema.properties, watermark: { type: 'string', description: 'New.' } },
    });
    expect(later.at(-1)).to.deep.include({ title: 'Other' });
    expect(later.at(-1)!.fields.map(({ name }) => name)).to.deep.equal(['watermark']);
  });

  for (const [path, control] of Object.entries({
    format: 'text',
    scale: 'number',
    landscape: 'switch',
    emulate_media: 'choice',
    margin: 'group',
    'margin.top': 'text',
    'header.html': 'long',
    cookies: 'rows',
    'cookies.same_site': 'choice',
    extra_http_headers: 'pairs',
    css: 'long',
    wait_for_selector: 'text',
  }))
    it(`shows ${path} as a ${control} control`, () => {
      expect(field(path).control).to.equal(control);
    });

  it('takes defaults, choices, ranges and patterns from the schema', () => {
    expect(field('format')).to.deep.include({ defaultValue: 'A4', placeholder: 'A4' });
    expect(field('raise_for_status').defaultValue).to.equal(undefined);
    expect(field('emulate_media')).to.deep.include({
      defaultValue: 'print',
      choices: ['print', 'screen'],
    });
    expect(field('scale').range).to.deep.equal({ min: 0.1, max: 2 });
    expect(field('margin.top').pattern!.test('20mm')).to.equal(true);
    expect(field('margin.top').pattern!.test('much')).to.equal(false);
    expect(field('cookies.name').required).to.equal(true);
    expect(field('paper_width').placeholder).to.equal('e.g. 210mm');
  });

  it('shows one margin for all sides as the value of each', () => {
    for (const value of ['20mm', 0])
      expect(membersIn(value, field('margin'))).to.deep.equal({
        top: value,
        right: value,
        bottom: value,
        left: value,
      });
    expect(membersIn({ top: '1in' }, field('margin'))).to.deep.equal({ top: '1in' });
    expect(membersIn('x', field('header'))).to.deep.equal({});
  });

  it('ignores a pattern that the browser cannot compile', () => {
    const [section] = sectionsOf({ properties: { format: { type: 'string', pattern: '(' } } });
    expect(section!.fields[0]!.pattern).to.equal(undefined);
  });

  it('searches options by name, description and section', () => {
    const names = (search: string) =>
      found(sections, search).flatMap(section => section.fields.map(({ name }) => name));
    expect(names('cookie')).to.include('cookies');
    expect(names('network idle')).to.include('wait_for_network_idle');
    expect(names('go duration')).to.deep.equal(['wait_delay', 'timeout']);
    expect(names('zebra')).to.deep.equal([]);
    expect(names('  ')).to.have.length(fields.length);
  });

  it('derives labels from field names', () => {
    expect(labelOf('wait_for_selector')).to.equal('Wait for selector');
    expect(labelOf('extra_http_headers')).to.equal('Extra HTTP headers');
  });
});

describe('playground request', () => {
  const draft = { ...EMPTY, html: '<p>x', options: { format: 'A5' } };

  it('contains only the fields that were set', () => {
    expect(requestOf(draft)).to.deep.equal({ html: '<p>x', format: 'A5' });
    expect(requestOf({ ...draft, source: 'url', url: 'https://example.com/' })).to.deep.equal({
      url: 'https://example.com/',
      format: 'A5',
    });
  });

  it('sends sandbox explicitly from the playground, and in snippets only if switched on', () => {
    expect(callOf(draft)).not.to.have.property('sandbox');
    expect(callOf({ ...draft, sandbox: true })).to.have.property('sandbox', true);
    expect(playgroundCallOf(draft)).to.have.property('sandbox', true);
    expect(callOf({ ...draft, sandbox: false })).not.to.have.property('sandbox');
    expect(playgroundCallOf({ ...draft, sandbox: false })).to.have.property('sandbox', false);
  });

  it('is unchanged after a round trip through JSON', () => {
    expect(draftFrom(JSON.stringify(requestOf(draft)), draft)).to.deep.equal(draft);
    expect(draftFrom('{"url": "https://example.com/"}', draft)).to.deep.equal({
      ...draft,
      source: 'url',
      url: 'https://example.com/',
      options: {},
    });
  });

  it('keeps the sandbox switch unless the JSON sets the field', () => {
    expect(draftFrom('{"html": "x"}', draft)).not.to.have.property('sandbox');
    expect(draftFrom('{"html": "x"}', { ...draft, sandbox: false }).sandbox).to.equal(false);
    expect(draftFrom('{"html": "x", "sandbox": false}', draft)).to.deep.include({
      sandbox: false,
      options: {},
    });
  });

  for (const [text, sentence] of [
    ['{"html": ', 'Invalid JSON'],
    ['[]', 'must be an object'],
    ['{}', 'Set `html` or `url`'],
    ['{"html": 1}', 'to a string'],
    ['{"html": "x", "url": "https://example.com/"}', 'exactly one'],
    ['{"html": "x", "sandbox": "no"}', '`sandbox` must be'],
  ] as const)
    it(`rejects ${text}`, () => {
      expect(() => draftFrom(text, draft)).to.throw(sentence);
    });

  it('omits empty groups and empty optional fields', () => {
    expect(withGroupMember({ top: '1in' }, 'top', undefined)).to.equal(undefined);
    expect(withGroupMember({ top: '1in' }, 'left', '2in')).to.deep.equal({
      top: '1in',
      left: '2in',
    });
    expect(withGroupMember({ username: '' }, 'password', '')).to.equal(undefined);
    expect(textValue('', field('format'))).to.equal(undefined);
    expect(textValue('', field('cookies.value'))).to.equal('');
  });

  it('omits switches at their default', () => {
    expect(switchValue(true, field('print_background'))).to.equal(undefined);
    expect(switchValue(false, field('print_background'))).to.equal(false);
    expect(switchValue(false, field('landscape'))).to.equal(undefined);
    expect(switchValue(true, field('landscape'))).to.equal(true);
  });

  it('keeps the order of its fields when one changes', () => {
    expect(Object.keys(withMember({ a: 1, b: 2 }, 'a', 3))).to.deep.equal(['a', 'b']);
  });

  it('assigns the sentences of an error message to the fields that they name', () => {
    const message =
      '`margin.top` must be a length such as `10mm`, not "x". `lanscape` is not a valid field. Did you mean `landscape`? `scale` is 3.';
    const errors = fieldErrorsOf(message);
    expect([...errors.keys()]).to.deep.equal(['margin.top', 'lanscape', 'scale']);
    expect(errors.get('margin.top')).to.equal('Must be a length such as 10mm, not "x".');
    expect(errors.get('lanscape')).to.equal('Not a valid field. Did you mean landscape?');
    expect(fieldErrorsOf('`cookies` `a b` is bad.').get('cookies')).to.equal('a b is bad.');
    expect(fieldErrorsOf('The page returned 404. Set `raise_for_status` to false.').size).to.equal(
      0,
    );
  });
});
