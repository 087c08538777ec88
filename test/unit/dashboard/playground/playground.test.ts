import { expect } from 'chai';
import { openApi } from '../../../../common/contract/openapi.ts';
import {
  type FieldSchema,
  found,
  labelOf,
  type RequestField,
  sectionsOf,
} from '../../../../dashboard/playground/fields.ts';
import {
  callOf,
  complaints,
  draftFrom,
  EMPTY,
  playgroundCallOf,
  requestOf,
  switchValue,
  textValue,
  withGroupMember,
  withMember,
} from '../../../../dashboard/playground/request.ts';

const schema = openApi({ publicUrl: 'http://localhost:8080' }).components.schemas
  .RenderRequest as FieldSchema;
const sections = sectionsOf(schema);
const fields = sections.flatMap(section => section.fields);
const field = (path: string): RequestField => {
  const all = (list: RequestField[]): RequestField[] =>
    list.flatMap(each => [each, ...all(each.fields)]);
  return all(fields).find(each => each.path === path)!;
};

describe('the form of the playground', () => {
  it('has every option of the contract, each once', () => {
    const elsewhere = ['html', 'url', 'sandbox'];
    const names = fields.map(({ name }) => name);
    expect(names).to.have.members(
      Object.keys(schema.properties!).filter(name => !elsewhere.includes(name)),
    );
    expect(new Set(names).size).to.equal(names.length);
  });

  it('has a section for each field that there is now, and shows one that it does not know all the same', () => {
    expect(sections.map(({ title }) => title)).to.deep.equal([
      'Page',
      'Margins',
      'Header & footer',
      'Waits',
      'Requests',
      'Additions',
      'Metadata',
    ]);
    const later = sectionsOf({
      properties: { ...schema.properties, watermark: { type: 'string', description: 'New.' } },
    });
    expect(later.at(-1)).to.deep.include({ title: 'Others' });
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
    it(`shows ${path} as ${control}`, () => {
      expect(field(path).control).to.equal(control);
    });

  it('knows what each field means when it is absent, and what it accepts', () => {
    expect(field('format')).to.deep.include({ standard: 'A4', placeholder: 'A4' });
    expect(field('raise_for_status').standard).to.equal(undefined);
    expect(field('emulate_media')).to.deep.include({
      standard: 'print',
      choices: ['print', 'screen'],
    });
    expect(field('scale').range).to.deep.equal({ min: 0.1, max: 2 });
    expect(field('margin.top').pattern!.test('20mm')).to.equal(true);
    expect(field('margin.top').pattern!.test('much')).to.equal(false);
    expect(field('cookies.name').required).to.equal(true);
    expect(field('paper_width').placeholder).to.equal('e.g. 210mm');
  });

  it('leaves the check to the service when it cannot read a pattern', () => {
    const [section] = sectionsOf({ properties: { format: { type: 'string', pattern: '(' } } });
    expect(section!.fields[0]!.pattern).to.equal(undefined);
  });

  it('finds options by their names, by words of their descriptions and by their section', () => {
    const names = (search: string) =>
      found(sections, search).flatMap(section => section.fields.map(({ name }) => name));
    expect(names('cookie')).to.include('cookies');
    expect(names('network idle')).to.include('wait_for_network_idle');
    expect(names('go notation')).to.deep.equal(['wait_delay']);
    expect(names('zebra')).to.deep.equal([]);
    expect(names('  ')).to.have.length(fields.length);
  });

  it('writes names as people do', () => {
    expect(labelOf('wait_for_selector')).to.equal('Wait for selector');
    expect(labelOf('extra_http_headers')).to.equal('Extra HTTP headers');
  });
});

describe('a request of the playground', () => {
  const draft = { ...EMPTY, html: '<p>x', options: { format: 'A5' } };

  it('is sent with what was chosen and nothing else', () => {
    expect(requestOf(draft)).to.deep.equal({ html: '<p>x', format: 'A5' });
    expect(requestOf({ ...draft, source: 'url', url: 'https://example.com/' })).to.deep.equal({
      url: 'https://example.com/',
      format: 'A5',
    });
  });

  it('is a sandbox render unless that was switched off, in the playground by its own word', () => {
    expect(callOf(draft)).to.have.property('sandbox', true);
    expect(callOf({ ...draft, sandbox: false })).not.to.have.property('sandbox');
    expect(playgroundCallOf({ ...draft, sandbox: false })).to.have.property('sandbox', false);
  });

  it('comes back from its JSON as it was', () => {
    expect(draftFrom(JSON.stringify(requestOf(draft)), draft)).to.deep.equal(draft);
    expect(draftFrom('{"url": "https://example.com/"}', draft)).to.deep.equal({
      ...draft,
      source: 'url',
      url: 'https://example.com/',
      options: {},
    });
  });

  it('keeps the switch when its JSON says nothing of the sandbox, and follows it when it does', () => {
    expect(draftFrom('{"html": "x"}', draft).sandbox).to.equal(true);
    expect(draftFrom('{"html": "x", "sandbox": false}', draft)).to.deep.include({
      sandbox: false,
      options: {},
    });
  });

  for (const [text, sentence] of [
    ['{"html": ', 'not JSON yet'],
    ['[]', 'a JSON object'],
    ['{}', 'Give `html` or `url`'],
    ['{"html": 1}', 'as a text'],
    ['{"html": "x", "url": "https://example.com/"}', 'exactly one'],
    ['{"html": "x", "sandbox": "no"}', '`sandbox` must be'],
  ] as const)
    it(`is not taken from ${text}`, () => {
      expect(() => draftFrom(text, draft)).to.throw(sentence);
    });

  it('loses a group with its last member, and a field with its text', () => {
    expect(withGroupMember({ top: '1in' }, 'top', undefined)).to.equal(undefined);
    expect(withGroupMember({ top: '1in' }, 'left', '2in')).to.deep.equal({
      top: '1in',
      left: '2in',
    });
    expect(withGroupMember({ username: '' }, 'password', '')).to.equal(undefined);
    expect(textValue('', field('format'))).to.equal(undefined);
    expect(textValue('', field('cookies.value'))).to.equal('');
  });

  it('has no switch in it that stands at its default', () => {
    expect(switchValue(true, field('print_background'))).to.equal(undefined);
    expect(switchValue(false, field('print_background'))).to.equal(false);
    expect(switchValue(false, field('landscape'))).to.equal(undefined);
    expect(switchValue(true, field('landscape'))).to.equal(true);
  });

  it('keeps the order of its fields when one is changed', () => {
    expect(Object.keys(withMember({ a: 1, b: 2 }, 'a', 3))).to.deep.equal(['a', 'b']);
  });

  it('is complained of at the fields that the service names', () => {
    const message =
      '`margin.top` must be a length, such as "10mm", not "x". `lanscape` is not a field; did you mean `landscape`? `scale` is 3.';
    const found = complaints(message);
    expect([...found.keys()]).to.deep.equal(['margin.top', 'lanscape', 'scale']);
    expect(found.get('margin.top')).to.equal('Must be a length, such as "10mm", not "x".');
    expect(complaints('The page answered 404. Set `raise_for_status` to false.').size).to.equal(0);
  });
});
