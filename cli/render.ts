// `pressroom render`: renders a file, standard input or a URL with one request to the HTTP API.
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
    throw new InvalidArgumentError('It must be a number.');
  return parsed;
};

const object = (value: string): Record<string, unknown> => {
  try {
    const parsed: unknown = JSON.parse(value);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // reported below
  }
  throw new InvalidArgumentError('It must be a JSON object, such as \'{"margin":{"top":"2cm"}}\'.');
};

/**
 * Each option is a field of the request with dashes in its name. The API checks the values, so that
 * its error messages appear here as well.
 */
const fields: Option[] = [
  new Option('--format <size>', 'Paper size: A4, Letter, … or WIDTHxHEIGHT (10cmx15cm, 800xauto)'),
  new Option('--paper-width <length>', 'Paper width (with --paper-height, instead of --format)'),
  new Option('--paper-height <length>', 'Paper height (with --paper-width)'),
  new Option('--prefer-css-page-size', 'Use the paper sizes of @page rules'),
  new Option('--landscape', 'Swap width and height'),
  new Option('--margin <length>', 'Margin on all four sides, such as 2cm'),
  new Option('--no-print-background', 'Omit background colors and images'),
  new Option('--scale <factor>', 'Scale of the content, 0.1 to 2').argParser(number),
  new Option('--single-page', 'Print one page as tall as the content'),
  new Option('--pages <ranges>', 'Keep only these pages, such as 1-3,7'),
  new Option('--emulate-media <media>', 'CSS media type: print or screen'),
  new Option('--wait-for-selector <css>', 'Wait until an element matches the selector'),
  new Option('--wait-for-expression <js>', 'Wait until the expression is truthy'),
  new Option('--wait-for-network-idle', 'Wait until the network is idle for 500 ms'),
  new Option('--wait-delay <duration>', 'Wait before printing, such as 500ms'),
  new Option('--timeout <duration>', 'Time limit for the page, such as 30s'),
  new Option('--raise-for-status', 'Fail on redirects as well'),
  new Option('--no-raise-for-status', 'Print error pages instead of failing'),
];

interface Own {
  output: string;
  key?: string;
  server: string;
  json?: Record<string, unknown>;
}

/**
 * Converts `--wait-for-selector` to `wait_for_selector`. Options that are not given are not sent,
 * so that the API's defaults apply.
 */
function requestFields(command: Command): Record<string, unknown> {
  const given = fields
    .map(option => option.attributeName())
    .filter(name => command.getOptionValueSource(name) === 'cli');
  const { json } = command.opts<Own>();
  return {
    ...Object.fromEntries(
      given.map(name => [
        name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
        command.getOptionValue(name),
      ]),
    ),
    ...json,
  };
}

async function source(from: string): Promise<{ html: string } | { url: string }> {
  if (/^https?:\/\//i.test(from)) return { url: from };
  try {
    return { html: from === '-' ? await text(process.stdin) : await readFile(from, 'utf8') };
  } catch (error) {
    throw new CliError(
      `Cannot read ${from} (${(error as NodeJS.ErrnoException).code}). Use a file, an http(s) URL, or - for standard input.`,
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
      `Cannot connect to Pressroom at ${server} (${cause?.message ?? (error as Error).message}). Start it with \`npm start\` or set --server.`,
      1,
      error,
    );
  }
}

/** The API's error message, if the response has one. */
async function errorOf(response: Response): Promise<CliError> {
  const body = await response.text();
  try {
    const { error } = JSON.parse(body) as {
      error: { code: string; message: string; request_id: string };
    };
    return new CliError(`${error.message} (${error.code}, request ${error.request_id})`);
  } catch {
    return new CliError(
      `The server returned status ${response.status} without a PDF. Check that it is a Pressroom API.`,
    );
  }
}

/** Writes to a temporary file and renames it, so that `output` is never incomplete. */
async function save(body: WebReadableStream, output: string): Promise<void> {
  if (output === '-') return pipeline(Readable.fromWeb(body), process.stdout, { end: false });
  const draft = `${output}.${process.pid}.part`;
  try {
    await pipeline(Readable.fromWeb(body), createWriteStream(draft));
    await rename(draft, output);
  } catch (error) {
    await rm(draft, { force: true });
    throw new CliError(`Cannot write ${output}: ${(error as Error).message}`, 1, error);
  }
}

export function addRenderCommand(program: Command, { notify }: Terminal): void {
  const command = program
    .command('render')
    .argument('<source>', 'HTML file, http(s) URL, or - for standard input')
    .description('Render a file or URL to PDF')
    .requiredOption('-o, --output <file>', 'Output file, or - for standard output')
    .addOption(new Option('--key <key>', 'API key').env('PRESSROOM_KEY'))
    .addOption(
      new Option('--server <url>', 'Base URL of Pressroom')
        .env('PRESSROOM_SERVER')
        .default('http://localhost:8080'),
    )
    .addOption(new Option('--json <object>', 'Additional request fields').argParser(object));
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
          'No API key given. Use --key or set PRESSROOM_KEY. Create a key with `pressroom keys create`.',
        );
      if (!URL.canParse(server))
        throw wrongUsage(
          `--server must be a URL, such as http://localhost:8080. \`${server}\` is not one.`,
        );
      const response = await send(server, key, {
        ...(await source(from)),
        ...requestFields(command),
      });
      if (
        !response.ok ||
        !response.body ||
        !response.headers.get('content-type')?.startsWith('application/pdf')
      )
        throw await errorOf(response);
      await save(response.body, output);
      const pages = response.headers.get('x-pdf-pages');
      notify(
        `${output === '-' ? 'Rendered the PDF' : `Saved ${output}`}${pages ? ` (${pages} ${pages === '1' ? 'page' : 'pages'})` : ''}.`,
      );
    });
}
