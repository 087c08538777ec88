// `pressroom render`: renders a file, standard input or a URL with one request to the HTTP API, or
// submits it with --async.
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import type { AsyncRender } from '../common/contract/async-renders.ts';
import { RENDER_WARNINGS, WARNING_TEXTS } from '../common/contract/warnings.ts';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';
import { addServerOptions, HttpApi, notPressroom, type ServerOptions } from './http-api.ts';
import { savedNotice, savePdf } from './pdf-output.ts';
import { withProgress } from './progress-line.ts';
import { fieldOptions, givenFields, jsonObject } from './request-options.ts';
import { savedName } from './saved-name.ts';
import type { Terminal } from './terminal.ts';

interface Own extends ServerOptions {
  output?: string;
  async?: true;
  ttl?: string;
  json?: Record<string, unknown>;
}

/**
 * The `filename` of the request. Without one, `invoice.html` -> `invoice.pdf`, in the working
 * directory, and standard input to standard output.
 */
export function defaultOutput(from: string, filename?: unknown): string {
  if (typeof filename === 'string') return savedName(filename);
  if (from === '-') {
    if (process.stdout.isTTY) throw wrongUsage('Set --output: the terminal cannot show a PDF.');
    return '-';
  }
  const isUrl = URL.canParse(from) && /^https?:/i.test(from);
  const name = isUrl ? decodedName(new URL(from)) : basename(from, extname(from));
  return savedName(name);
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

/** Renders with one request and saves the PDF. */
async function renderNow(
  api: HttpApi,
  { from, output, body }: { from: string; output: string; body: unknown },
  notify: Terminal['notify'],
): Promise<void> {
  const response = await withProgress(
    `Rendering ${from === '-' ? 'standard input' : from}`,
    api.request('/v1/render', { method: 'POST', body }),
  );
  if (!response.body || !response.headers.get('content-type')?.startsWith('application/pdf'))
    throw new CliError(notPressroom(response.status));
  await savePdf(response.body, output);
  notify(savedNotice(output, response.headers.get('x-pdf-pages')));
  for (const line of remarks(response.headers)) notify(line);
}

/** Prints ID and URL with a tab between them, for `cut` and `read`. */
async function submitRender(
  api: HttpApi,
  body: unknown,
  { print, notify }: Terminal,
): Promise<void> {
  const submitted = await api.json<AsyncRender>('/v1/renders', { method: 'POST', body });
  const { id, links } = submitted.body;
  print(`${id}\t${links.self}\n`);
  notify(`Submitted. Wait for the PDF: ${COMMAND} renders wait ${id}`);
}

export function addRenderCommand(program: Command, terminal: Terminal): void {
  const command = addServerOptions(
    program
      .command('render')
      .argument('<source>', 'HTML file, http(s) URL, or - for standard input')
      .description('Render a file or URL to PDF')
      .option(
        '-o, --output <file>',
        'Output file, or - for standard output. Default: --filename, otherwise the name of the source with .pdf',
      )
      .option(
        '--async',
        'Submit an asynchronous render, print its ID and URL, and do not wait for the PDF',
      )
      .option(
        '--ttl <duration>',
        'With --async: how long the render and its PDF are kept, such as 90m (default: 24h)',
      ),
  ).addOption(
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
    .addHelpText('after', `  ID=$(${COMMAND} render invoice.html --async --ttl 48h | cut -f1)`)
    .action(async (from: string, { output: chosen, async, ttl, json, ...server }: Own) => {
      const fieldsGiven: Record<string, unknown> = { ...givenFields(command, fields), ...json };
      if (async && chosen !== undefined)
        throw wrongUsage(
          `--async saves no file. Use \`${COMMAND} renders wait ID --output ${chosen}\`.`,
        );
      if (!async && ttl !== undefined) throw wrongUsage('--ttl is only for --async.');
      const output = async ? '-' : (chosen ?? defaultOutput(from, fieldsGiven['filename']));
      if (output === from && from !== '-')
        throw wrongUsage(`\`${from}\` would be overwritten. Set --output.`);
      const api = new HttpApi(server);
      const body = { ...(await source(from)), ...fieldsGiven };
      if (async) return submitRender(api, { ...body, ...(ttl !== undefined && { ttl }) }, terminal);
      return renderNow(api, { from, output, body }, terminal.notify);
    });
}
