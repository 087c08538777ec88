import { expect } from 'chai';
import { Command } from 'commander';
import { defaultOutput } from '../../../cli/render.ts';
import { fieldOptions, givenFields } from '../../../cli/request-options.ts';
import type { JsonSchema } from '../../../common/contract/json-schema.ts';
import { parseRenderRequest } from '../../../common/contract/render-request.ts';
import { PUBLIC } from '../../support/request-error.ts';
import { requestFields, requestSchema } from '../../support/request-fields.ts';

/** The request fields of these arguments. */
function parsed(...args: string[]): Record<string, unknown> {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  const options = fieldOptions();
  for (const { option } of options) command.addOption(option);
  command.parse(args, { from: 'user' });
  return givenFields(command, options);
}

const flagOf = (path: string) => `--${path.replaceAll(/[._]/g, '-')}`;
const top = requestSchema.properties as Record<string, JsonSchema>;
const isMember = (path: string) => path.includes('.');
/** Members of list items are given as JSON of the item; the document is an argument. */
const withFlag = requestFields.filter(
  ([path]) => !/^(html|url)$/.test(path) && top[path.split('.')[0]!]!.type !== 'array',
);

/** The arguments that set the field to the value. */
function argsFor(path: string, { type }: JsonSchema, value: unknown): string[] {
  const flag = flagOf(path);
  if (type === 'boolean') return [value ? flag : flag.replace('--', '--no-')];
  if (typeof value !== 'object') return [flag, String(value)];
  if (type !== 'object' || top[path]!.properties) return [flag, JSON.stringify(value)];
  return Object.entries(value as object).flatMap(([name, text]) => [
    flag.replace(/s$/, ''),
    `${name}: ${text}`,
  ]);
}

describe('options of `pressroom render`', () => {
  for (const [path, schema] of withFlag)
    it(`set ${path} to each of its examples`, () => {
      for (const value of schema.examples!) {
        const [outer, inner] = path.split('.') as [string, string?];
        // A length may be the number 0, which is the same as its text.
        const text = schema.type !== 'number' && typeof value === 'number' ? String(value) : value;
        const wanted = { [outer]: inner === undefined ? text : { [inner]: text } };
        expect(parsed(...argsFor(path, schema, value))).to.deep.equal(wanted);
      }
    });

  for (const [path, schema] of Object.entries(top).filter(([, { type }]) => type === 'array'))
    it(`add an item to ${path} with each use`, () => {
      const items = schema.examples![0] as unknown[];
      const twice = [...items, ...items];
      const flag = flagOf(path).replace(/s$/, '');
      expect(parsed(...twice.flatMap(item => [flag, JSON.stringify(item)]))).to.deep.equal({
        [path]: twice,
      });
    });

  it('cover every field of the contract but the document', () => {
    const covered = new Set(fieldOptions().map(({ path }) => path.join('.')));
    const lists = Object.keys(top).filter(name => top[name]!.type === 'array');
    expect([...covered]).to.have.members([...withFlag.map(([path]) => path), ...lists]);
    expect(withFlag.some(([path]) => isMember(path))).to.equal(true);
  });

  it('send no field that is not given', () => {
    expect(parsed()).to.deep.equal({});
  });

  it('have short forms of header, footer, auth and margin', () => {
    const fields = parsed(
      ...['--header', '<b>A</b>', '--header-height', '2cm', '--footer', 'B'],
      ...['--auth', 'ada:correct:horse', '--margin', '1cm', '--margin-top', '3cm'],
    );
    expect(fields).to.deep.equal({
      header: { html: '<b>A</b>', height: '2cm' },
      footer: { html: 'B' },
      auth: { username: 'ada', password: 'correct:horse' },
      margin: { top: '3cm', right: '1cm', bottom: '1cm', left: '1cm' },
    });
    const url = 'https://example.com/';
    expect(parseRenderRequest({ url, ...fields }, PUBLIC)).to.deep.equal({ url, ...fields });
  });

  it('reject what is not a number, an object or a header', () => {
    for (const args of [
      ['--scale', 'big'],
      ['--metadata', '[1]'],
      ['--cookie', 'a=b'],
      ['--auth', 'ada'],
      ['--extra-http-header', 'X-A'],
    ])
      expect(() => parsed(...args), args.join(' ')).to.throw(/It must be/);
  });

  it('name the output after the source', () => {
    for (const [source, output] of [
      ['invoice.html', 'invoice.pdf'],
      ['out/My invoice.v2.html', 'My invoice.v2.pdf'],
      ['https://example.com/reports/q3.html?x=1', 'q3.pdf'],
      ['https://example.com/', 'example.com.pdf'],
      ['-', '-'],
    ] as const)
      expect(defaultOutput(source), source).to.equal(output);
    expect(defaultOutput('-', 'order: 7')).to.equal('order- 7.pdf');
  });
});
