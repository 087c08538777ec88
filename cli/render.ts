// `pressroom render`: renders a file, standard input or a URL with one request to the HTTP API.
import { createWriteStream } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as WebReadableStream } from 'node:stream/web';
import { type Command, Option } from 'commander';
import { pdfFilename } from '../api/pdf/filename.ts';
import { RENDER_WARNINGS, WARNING_TEXTS } from '../common/contract/warnings.ts';
import type { Terminal } from './accounts.ts';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';
import { fieldOptions, givenFields, jsonObject } from './request-options.ts';

interface Own {
  output?: string;
  key?: string;
  server: string;
  json?: Record<string, unknown>;
}

/**
 * The `filename` of the request. Without one, `invoice.html` -> `invoice.pdf`, in the working
 * directory, and standard input to standard output.
 */
export function defaultOutput(from: string, filename?: unknown): string {
  if (typeof filename === 'string') return pdfFilename(filename);
  if (from === '-') {
    if (process.stdout.isTTY) throw wrongUsage('Set --output: the terminal cannot show a PDF.');
    return '-';
  }
  const isUrl = URL.canParse(from) && /^https?:/i.test(from);
  const name = isUrl ? decodedName(new URL(from)) : basename(from, extname(from));
  return pdfFilename(name);
}

/** The last part of the path without its extension, otherwise the host. */
function decodedName({ pathname, hostname }: URL): string {
  const last = basename(pathname);
  return last === '' ? hostname : basename(last, extname(last));
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

/** What may be wrong with the PDF. */
function remarks(headers: Headers): string[] {
  const failed = headers.get('x-resource-errors');
  const warnings = headers.get('x-warnings')?.split(', ') ?? [];
  return [
    ...(failed
      ? [
          `${failed} ${failed === '1' ? 'resource' : 'resources'} of the page did not load. The render log in the dashboard has the details.`,
        ]
      : []),
    ...RENDER_WARNINGS.filter(word => warnings.includes(word)).map(word => WARNING_TEXTS[word]),
  ];
}

const PROGRESS_MS = 1_000;

/** From the first second on, one line on a terminal. Scripts see nothing. */
async function withProgress<T>(what: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work;
  const startMs = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    stderr.write(`\r${what}: ${seconds} s\x1b[K`);
  }, PROGRESS_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (performance.now() - startMs >= PROGRESS_MS) stderr.write('\r\x1b[K');
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
    .option(
      '-o, --output <file>',
      'Output file, or - for standard output. Default: --filename, otherwise the name of the source with .pdf',
    )
    .addOption(new Option('--key <key>', 'API key').env('PRESSROOM_KEY'))
    .addOption(
      new Option('--server <url>', 'Base URL of Pressroom')
        .env('PRESSROOM_SERVER')
        .default('http://localhost:8080'),
    )
    .addOption(
      new Option('--json <object>', 'Additional request fields').argParser(value =>
        jsonObject(value),
      ),
    );
  const fields = fieldOptions();
  for (const { option } of fields) command.addOption(option);
  command
    .addHelpText(
      'after',
      `\nExamples:\n  ${COMMAND} render invoice.html --format A4 --margin 2cm --footer "{{page}} of {{total}}"`,
    )
    .addHelpText(
      'after',
      `  ${COMMAND} render https://example.com/report -o report.pdf --single-page --wait-for-selector "#ready"`,
    )
    .addHelpText('after', `  cat page.html | ${COMMAND} render - > render.pdf`)
    .action(async (from: string, { output: chosen, key, server, json }: Own) => {
      const fieldsGiven: Record<string, unknown> = { ...givenFields(command, fields), ...json };
      const output = chosen ?? defaultOutput(from, fieldsGiven['filename']);
      if (output === from && from !== '-')
        throw wrongUsage(`\`${from}\` would be overwritten. Set --output.`);
      if (!key)
        throw wrongUsage(
          `No API key given. Use --key or set PRESSROOM_KEY. Create a key with \`${COMMAND} keys create\`.`,
        );
      if (!URL.canParse(server))
        throw wrongUsage(
          `--server must be a URL, such as http://localhost:8080. \`${server}\` is not one.`,
        );
      const body = { ...(await source(from)), ...fieldsGiven };
      const response = await withProgress(
        `Rendering ${from === '-' ? 'standard input' : from}`,
        send(server, key, body),
      );
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
      for (const line of remarks(response.headers)) notify(line);
    });
}
