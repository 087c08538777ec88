// The options of `pressroom render`, one for each field of the contract, and the request body that
// they stand for. A new field of the contract needs no code here.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type JsonSchema, jsonSchema } from '../common/contract/json-schema.ts';
import { renderRequestSchema } from '../common/contract/render-request.ts';

interface FieldOption {
  option: Option;
  /** `margin`, `top`. */
  path: readonly string[];
}

/** The document is an argument, not an option. */
const ARGUMENT: readonly string[] = ['html', 'url'];

const number = (value: string): number => {
  const parsed = Number(value);
  if (value.trim() === '' || !Number.isFinite(parsed))
    throw new InvalidArgumentError('It must be a number.');
  return parsed;
};

type Body = Record<string, unknown>;

/** Parses a JSON object. `instead`: another form that is accepted, for the message. */
export function jsonObject(value: string, instead = ''): Body {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Body;
  } catch {
    // reported below
  }
  throw new InvalidArgumentError(
    `It must be a JSON object, such as '{"margin":{"top":"2cm"}}'${instead}.`,
  );
}

const credentials = (value: string): Body => {
  const [username, ...password] = value.split(':');
  if (password.length === 0) return jsonObject(value, ', or USER:PASSWORD');
  return { username, password: password.join(':') };
};

/** Short forms of objects. Text that begins with a brace is always JSON. */
const SHORT: Record<string, { form: string; parse(value: string): Body }> = {
  header: { form: 'html', parse: html => ({ html }) },
  footer: { form: 'html', parse: html => ({ html }) },
  auth: { form: 'user:password', parse: credentials },
};

const pair = (value: string, known: Body | undefined): Body => {
  const colon = value.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError("It must be 'Name: value'.");
  return { ...known, [value.slice(0, colon).trim()]: value.slice(colon + 1).trim() };
};

const flagOf = (path: readonly string[]) => `--${path.join('-').replaceAll('_', '-')}`;
const singular = (flag: string) => flag.replace(/s$/, '');

const MAX_EXAMPLE_LENGTH = 40;

/** The first sentence and a short example; the API reference has the rest. */
function describe({ description = '', examples = [] }: JsonSchema): string {
  const sentence = /^.*?(?=\. |\.$)/.exec(description)?.[0] ?? description;
  const [example] = examples;
  const isShort = typeof example === 'string' && example.length <= MAX_EXAMPLE_LENGTH;
  return isShort && !sentence.includes('such as') ? `${sentence}, such as ${example}` : sentence;
}

/** The form of a field that is an object, possibly beside a text. */
const objectIn = (schema: JsonSchema): JsonSchema | undefined =>
  schema.type === 'object'
    ? schema
    : (schema.anyOf as JsonSchema[] | undefined)?.find(({ type }) => type === 'object');

function switches(path: readonly string[], schema: JsonSchema): Option[] {
  const [on, off] = [flagOf(path), flagOf(path).replace('--', '--no-')];
  const text = describe(schema);
  const setTo = (value: boolean) => `Set \`${path.join('.')}\` to ${value}. ${text}`;
  if (schema.default === true) return [new Option(off, setTo(false))];
  // Without a default, false differs from an absent field.
  return schema.default === false
    ? [new Option(on, text)]
    : [new Option(on, setTo(true)), new Option(off, setTo(false))];
}

function objectOption(path: readonly string[], schema: JsonSchema): Option {
  const short = SHORT[path.at(-1)!];
  const isText = (schema.anyOf as JsonSchema[] | undefined)?.some(({ type }) => type === 'string');
  const form = short?.form ?? (isText ? 'text' : undefined);
  const flags = `${flagOf(path)} <${form ? `${form} or json` : 'json'}>`;
  return new Option(flags, describe(schema)).argParser<unknown>(value => {
    if (form === undefined || value.trim().startsWith('{')) return jsonObject(value);
    return short ? short.parse(value) : value;
  });
}

function optionsOf(path: readonly string[], schema: JsonSchema): Option[] {
  const text = describe(schema);
  const inObject = objectIn(schema);
  if (inObject?.properties) return [objectOption(path, schema)];
  if (inObject)
    return [new Option(`${singular(flagOf(path))} <name: value>`, text).argParser<Body>(pair)];
  if (schema.type === 'array')
    return [
      new Option(`${singular(flagOf(path))} <json>`, text).argParser<Body[]>(
        (value, known = []) => [...known, jsonObject(value)],
      ),
    ];
  if (schema.type === 'boolean') return switches(path, schema);
  if (schema.enum) return [new Option(`${flagOf(path)} <${schema.enum.join('|')}>`, text)];
  const option = new Option(
    `${flagOf(path)} <${schema.type === 'number' ? 'number' : 'text'}>`,
    text,
  );
  return [schema.type === 'number' ? option.argParser(number) : option];
}

function optionsIn(schema: JsonSchema, outer: readonly string[] = []): FieldOption[] {
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).flatMap(
    ([name, field]) => {
      const path = [...outer, name];
      if (outer.length === 0 && ARGUMENT.includes(name)) return [];
      const own = optionsOf(path, field).map(option => ({ option, path }));
      return [...own, ...optionsIn(objectIn(field) ?? {}, path)];
    },
  );
}

export const fieldOptions = (): FieldOption[] =>
  optionsIn(jsonSchema(renderRequestSchema, 'input'));

/**
 * The fields of the given options. Options that are not given are not sent, so that the API's
 * defaults apply. The API checks the values, so that its error messages appear here as well.
 */
export function givenFields(command: Command, options: readonly FieldOption[]): Body {
  const body: Body = {};
  for (const { option, path } of options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli') continue;
    const value: unknown = command.getOptionValue(name);
    const [field = '', inner] = path;
    // A text stands for all members: `--margin 1cm --margin-top 3cm`.
    const members = (known: unknown): Body =>
      typeof known === 'string'
        ? Object.fromEntries(
            options.flatMap(({ path: [outer, name] }) =>
              outer === field && name !== undefined ? [[name, known]] : [],
            ),
          )
        : (known as Body);
    body[field] = inner === undefined ? value : { ...members(body[field]), [inner]: value };
  }
  return body;
}
