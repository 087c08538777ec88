// `pressroom render`: one call of the HTTP API, with a file, standard input or a URL.
import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebReadableStream } from 'node:stream/web';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Terminal } from './accounts.ts';
import { CliError, wrongUsage } from './failure.ts';

const number = (value: string): number => {
  const parsed = Number(value);
  if (value.trim() === '' || !Number.isFinite(parsed))
    throw new InvalidArgumentError('A number is needed.');
  return parsed;
};

const object = (value: string): Record<string, unknown> => {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // said below
  }
  throw new InvalidArgumentError('A JSON object is needed, such as \'{"margin":{"top":"2cm"}}\'.');
};

/**
 * Each one is a field of the request with the same name, written with dashes. The API checks their
 * values: it has the better sentences.
 */
const fields: Option[] = [
  new Option('--format <size>', 'A4, Letter, … or WIDTHxHEIGHT such as 10cmx15cm or 800xauto'),
  new Option('--paper-width <length>', 'with --paper-height, instead of --format'),
  new Option('--paper-height <length>', 'with --paper-width'),
  new Option('--landscape', 'turn the paper'),
  new Option('--no-print-background', 'leave out background colours and images'),
  new Option('--scale <factor>', '0.1 to 2').argParser(number),
  new Option('--single-page', 'one page as tall as the content'),
  new Option('--pages <ranges>', 'keep only these, such as 1-3,7'),
  new Option('--emulate-media <media>', 'print or screen'),
  new Option('--wait-for-selector <css>', 'wait until an element matches'),
  new Option('--wait-for-expression <js>', 'wait until it is truthy'),
  new Option('--wait-for-network-idle', 'wait until nothing was loaded for 500 ms'),
  new Option('--wait-delay <duration>', 'wait so long before printing, such as 500ms'),
  new Option('--raise-for-status', 'redirects fail too'),
  new Option('--no-raise-for-status', 'print error pages'),
];

interface Own {
  output: string;
  key?: string;
  server: string;
  margin?: string;
  json?: Record<string, unknown>;
}

/**
 * `--wait-for-selector` to `wait_for_selector`; what the person did not say is not sent, so that
 * the API's defaults hold.
 */
function requestFields(command: Command): Record<string, unknown> {
  const said = fields
    .map(option => option.attributeName())
    .filter(name => command.getOptionValueSource(name) === 'cli');
  const { margin, json } = command.opts<Own>();
  return {
    ...Object.fromEntries(
      said.map(name => [
        name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
        command.getOptionValue(name),
      ]),
    ),
    ...(margin !== undefined && {
      margin: { top: margin, right: margin, bottom: margin, left: margin },
    }),
    ...json,
  };
}

async function source(from: string): Promise<{ html: string } | { url: string }> {
  if (/^https?:\/\//i.test(from)) return { url: from };
  try {
    return { html: from === '-' ? await text(process.stdin) : await readFile(from, 'utf8') };
  } catch (error) {
    throw new CliError(
      `${from} cannot be read (${(error as NodeJS.ErrnoException).code}). Give a file, a http(s) URL, or - for standard input.`,
      1,
      error,
    );
  }
}

async function send(server: string, key: string, body: unknown): Promise<Response> {
  try {
    return await fetch(new URL('/v1/render', server), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  } catch (error) {
    const cause = (error as Error).cause as Error | undefined;
    throw new CliError(
      `Pressroom does not answer at ${server} (${cause?.message ?? (error as Error).message}). Start it (npm start), or give --server.`,
      1,
      error,
    );
  }
}

/** The API's own sentence where it gave one. */
async function refusal(response: Response): Promise<CliError> {
  const said = await response.text();
  try {
    const { error } = JSON.parse(said) as {
      error: { code: string; message: string; request_id: string };
    };
    return new CliError(`${error.message} (${error.code}, request ${error.request_id})`);
  } catch {
    return new CliError(`The server answered ${response.status} and no PDF. Is it Pressroom?`);
  }
}

/** Never leaves half a file under the wanted name. */
async function save(body: WebReadableStream, output: string): Promise<void> {
  if (output === '-') return pipeline(Readable.fromWeb(body), process.stdout, { end: false });
  const draft = `${output}.${process.pid}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(draft));
    await rename(draft, output);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliError(`${output} could not be written: ${(error as Error).message}`, 1, error);
  }
}

export function addRenderCommand(program: Command, { notify }: Terminal): void {
  const command = program
    .command('render')
    .argument('<source>', 'an HTML file, - for standard input, or a http(s) URL')
    .description('make a PDF by a running Pressroom')
    .requiredOption('-o, --output <file>', 'where the PDF goes; - for standard output')
    .addOption(new Option('--key <key>', 'an API key').env('PRESSROOM_KEY'))
    .addOption(
      new Option('--server <url>', 'where Pressroom is')
        .env('PRESSROOM_SERVER')
        .default('http://localhost:8080'),
    )
    .option('--margin <length>', 'the same on all four sides, such as 2cm')
    .addOption(new Option('--json <object>', 'more fields of the request').argParser(object));
  for (const option of fields) command.addOption(option);
  command
    .addHelpText(
      'after',
      '\nExamples:\n  pressroom render invoice.html -o invoice.pdf --format A4 --margin 2cm',
    )
    .addHelpText(
      'after',
      '  pressroom render https://example.com/report -o report.pdf --single-page --wait-for-selector "#ready"',
    )
    .addHelpText('after', '  cat page.html | pressroom render - -o - > render.pdf')
    .action(async (from: string, { output, key, server }: Own) => {
      if (!key)
        throw wrongUsage(
          'A key is needed: give --key, or set PRESSROOM_KEY. `pressroom keys create` makes one.',
        );
      if (!URL.canParse(server))
        throw wrongUsage(`--server ${server} is no URL, such as http://localhost:8080.`);
      const response = await send(server, key, {
        ...(await source(from)),
        ...requestFields(command),
      });
      if (
        !response.ok ||
        !response.body ||
        !response.headers.get('content-type')?.startsWith('application/pdf')
      )
        throw await refusal(response);
      await save(response.body, output);
      const pages = response.headers.get('x-pdf-pages');
      notify(
        `${output === '-' ? 'The PDF' : output} is there${pages ? ` (${pages} ${pages === '1' ? 'page' : 'pages'})` : ''}.`,
      );
    });
}
