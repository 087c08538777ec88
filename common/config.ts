// Configuration from environment variables: one zod schema per process, read once. All invalid
// variables are reported together.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { networkOf } from './addresses.ts';
import { parseBytes, parseDurationMs } from './units.ts';

/** What docs/configuration.md and `doctor` show. `fallback` is the default as text. */
export interface VariableMeta {
  kind:
    | 'duration'
    | 'bytes'
    | 'integer'
    | 'boolean'
    | 'list'
    | 'text'
    | 'url'
    | 'secret'
    | 'choice';
  fallback?: string;
  accepts: string;
  /** The bounds of a duration in milliseconds, of a size in bytes, or of an integer. */
  min?: number;
  max?: number;
  /** The message for a value that is not accepted. */
  message?: string;
  /** Of a choice. */
  choices?: readonly string[];
}

export const variableMeta = (type: z.ZodType) =>
  type.meta() as (VariableMeta & { description?: string }) | undefined;

const describeAs = <T extends z.ZodType>(type: T, meta: VariableMeta): T =>
  type.meta({ ...meta }) as T;

/** A number within the bounds in `meta`, parsed by `parse`. */
const amount = (
  parse: (text: string) => number | undefined,
  meta: VariableMeta & { fallback: string; min: number; message: string },
) =>
  describeAs(
    z
      .string()
      .default(meta.fallback)
      .transform((text, context) => {
        const value = parse(text);
        if (value !== undefined && value >= meta.min && value <= (meta.max ?? Infinity))
          return value;
        context.addIssue({ code: 'custom', message: meta.message });
        return z.NEVER;
      }),
    meta,
  );

/** A duration in Go's syntax, parsed to milliseconds. */
export const duration = (fallback: string, minMs = 0, maxMs = 24 * 3600e3) =>
  amount(parseDurationMs, {
    kind: 'duration',
    fallback,
    accepts: 'a duration such as `500ms`, `30s`, `2m`',
    min: minMs,
    max: maxMs,
    message: `must be a duration from ${minMs}ms to ${maxMs / 1000}s, such as 500ms, 30s or 2m`,
  });

/** A size with an optional binary unit, parsed to bytes. */
export const bytes = (fallback: string, minBytes = 1) =>
  amount(parseBytes, {
    kind: 'bytes',
    fallback,
    accepts: 'a size such as `512KiB`, `10MiB`, `1GiB`',
    min: minBytes,
    message: `must be a size of at least ${minBytes} bytes, such as 4096, 512KiB, 10MiB or 1GiB`,
  });

export const integer = (fallback: string, min: number, max: number) =>
  amount(text => (/^\d{1,15}$/.test(text) ? Number(text) : undefined), {
    kind: 'integer',
    fallback,
    accepts: `an integer from ${min} to ${max}`,
    min,
    max,
    message: `must be an integer from ${min} to ${max}`,
  });

export const onOff = (fallback: 'on' | 'off') =>
  describeAs(
    z
      .enum(['on', 'off'], { error: 'must be `on` or `off`' })
      .default(fallback)
      .transform(value => value === 'on'),
    { kind: 'boolean', fallback, accepts: '`on` or `off`' },
  );

/** The cast: TypeScript cannot resolve the output of an enum with generic values. */
export const choice = <const T extends readonly [string, ...string[]]>(
  values: T,
  fallback: T[number],
) =>
  describeAs(
    z.enum(values, { error: `must be one of ${values.join(', ')}` }).default(fallback as never),
    {
      kind: 'choice',
      fallback,
      accepts: values.map(value => `\`${value}\``).join(' or '),
      choices: values,
    },
  );

/** Comma-separated values, parsed to an array without empty entries. */
export const listVariable = (fallback: string, accepts = 'comma-separated values') =>
  describeAs(
    z
      .string()
      .default(fallback)
      .transform(text =>
        text
          .split(',')
          .map(value => value.trim())
          .filter(value => value !== ''),
      ),
    { kind: 'list', fallback, accepts },
  );

/** Parses each entry of a list. The Error has one line per invalid entry. */
export function readEach<T>(entries: readonly string[], read: (entry: string) => T): T[] {
  const all: T[] = [];
  const problems: string[] = [];
  for (const entry of entries) {
    try {
      all.push(read(entry));
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length > 0) throw new Error(problems.join('\n'));
  return all;
}

/** `type` followed by `parse`. The message of an Error that `parse` throws is reported. */
export const parsed = <S extends z.ZodType, T>(type: S, parse: (value: z.output<S>) => T) =>
  describeAs(
    type.transform((value, context): T => {
      try {
        return parse(value);
      } catch (error) {
        context.addIssue({
          code: 'custom',
          message: (error as Error).message.replaceAll('\n', '; '),
        });
        return z.NEVER;
      }
    }),
    variableMeta(type)!,
  );

/** Port numbers. */
export const ports = (fallback: string) =>
  parsed(listVariable(fallback, 'port numbers'), entries =>
    entries.map(entry => {
      const port = /^\d{1,5}$/.test(entry) ? Number(entry) : 0;
      if (port < 1 || port > 65_535) throw new Error(`\`${entry}\` is not a valid port number`);
      return port;
    }),
  );

/** Without a default, the text may be absent. */
const withFallback = <F extends string | undefined>(
  type: z.ZodString,
  fallback: F,
  meta: VariableMeta,
) =>
  describeAs(
    (fallback === undefined ? type.optional() : type.default(fallback)) as z.ZodType<
      string | F,
      string | undefined
    >,
    { ...meta, ...(fallback !== undefined && { fallback }) },
  );

export const textVariable = <F extends string | undefined>(fallback: F, accepts = 'text') =>
  withFallback(z.string().min(1), fallback, { kind: 'text', accepts });

/** In addition, `URL` must be able to parse the value. */
export const HTTP_URL = /^https?:\/\/[^\s/?#]+([/?#]\S*)?$/;

export function httpUrl<F extends string | undefined = undefined>(fallback = undefined as F) {
  const message = 'must be an http(s) URL';
  const type = z
    .string()
    .refine(value => HTTP_URL.test(value) && URL.canParse(value), { error: message });
  return withFallback(type, fallback, { kind: 'url', accepts: 'an http(s) URL', message });
}

/** Comma-separated addresses and networks. */
export const networks = () =>
  parsed(listVariable('', 'addresses and CIDRs'), entries =>
    readEach(entries, entry => networkOf(entry)),
  );

/** The path of a PEM file, parsed to its content. */
export const pemFile = () =>
  parsed(textVariable(undefined, 'the path of a PEM file'), (path): string | undefined => {
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new Error(`the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
  });

/** A text without a default that is never shown. `NAME_FILE` may name a file that contains it. */
export const secret = (minLength = 1) =>
  describeAs(
    z
      .string()
      .min(minLength, { error: `must have at least ${minLength} characters` })
      .optional(),
    {
      kind: 'secret',
      accepts: `${minLength > 1 ? `at least ${minLength} characters` : 'text'}, or NAME_FILE with the path of a file that contains it`,
    },
  );

/** Thrown by `readConfig`. Its message lists all invalid variables, one per line. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/**
 * Reads the variables of `schema` from `env`. An empty value counts as absent. Throws ConfigError
 * that names each invalid variable, its value (unless secret) and what is accepted.
 */
export function readConfig<T extends z.ZodObject>(schema: T, env: NodeJS.ProcessEnv): z.output<T> {
  const values: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, type] of Object.entries(schema.shape)) {
    const value = env[name];
    const file =
      variableMeta(type as z.ZodType)?.kind === 'secret' ? env[`${name}_FILE`] : undefined;
    if (value !== undefined && value !== '') values[name] = value;
    else if (file) {
      try {
        values[name] = readFileSync(file, 'utf8').trim();
      } catch (error) {
        problems.push(
          `${name}_FILE=${file}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`,
        );
      }
    }
  }
  const parsed = schema.safeParse(values);
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0] ?? '');
    const type = schema.shape[name] as z.ZodType | undefined;
    const value = values[name];
    const shown = type && variableMeta(type)?.kind === 'secret' ? '(secret)' : value;
    problems.push(
      value === undefined
        ? `${name} is required and ${issue.message}`
        : `${name}=${shown}: ${issue.message}`,
    );
  }
  if (problems.length > 0)
    throw new ConfigError(
      `Invalid configuration:\n${problems.map(line => `  ${line}`).join('\n')}`,
    );
  return parsed.data as z.output<T>;
}

/** Variables of every process. */
export const processVariables = z.object({
  PRESSROOM_OPERATIONS_HOST: textVariable('0.0.0.0', 'an address').describe(
    'Address of the operations port.',
  ),
  PRESSROOM_OPERATIONS_PORT: integer('9090', 0, 65_535).describe(
    'Port of `/livez`, `/readyz` and `/metrics`.',
  ),
  PRESSROOM_LOG_LEVEL: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    'info',
  ).describe('Minimum level of the log.'),
  PRESSROOM_DRAIN_TIMEOUT: duration('150s').describe(
    'How long a process that shuts down waits for running work.',
  ),
});

/** Variables that must be the same for the API and the workers of a pool. */
export const poolVariables = z.object({
  PRESSROOM_POOL: textVariable('default', 'a name').describe(
    'Name of the worker pool. API and workers of a pool share a secret.',
  ),
  PRESSROOM_POOL_SECRET: secret(16).describe(
    'Secret that signs tickets for slots. Must be the same for the API and the workers of a pool.',
  ),
  PRESSROOM_EGRESS_ALLOW: listVariable(
    '',
    'host patterns and CIDRs, each with an optional `:port`',
  ).describe(
    'Allowlist of private addresses for accounts marked `intranet`, such as `wiki.corp`, `*.corp.example:8443`, `10.1.0.0/16`.',
  ),
  PRESSROOM_EGRESS_DENY: networks().describe(
    "Public networks that pages, and the API when it fetches client metadata documents, must not reach. List your own public ranges, and your network's NAT64 and 6rd prefixes, which map to private addresses. An address or CIDR in `PRESSROOM_EGRESS_ALLOW` takes precedence for pages.",
  ),
  PRESSROOM_EGRESS_PORTS: ports('80,443,8080,8443').describe('Ports that a page may connect to.'),
});
