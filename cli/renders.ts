// `pressroom renders`: lists, shows, waits for and cancels asynchronous renders.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { isFinalStatus } from '../api/jobs/job-status.ts';
import {
  ASYNC_RENDER_STATUSES,
  type AsyncRender,
  type AsyncRenderStatus,
  MAX_RENDERS_LISTED,
} from '../common/contract/async-renders.ts';
import { parseDurationMs } from '../common/units.ts';
import { COMMAND } from './command-name.ts';
import { CliError } from './failure.ts';
import { addServerOptions, HttpApi, retried, type ServerOptions } from './http-api.ts';
import { savedNotice, savePdf } from './pdf-output.ts';
import { withProgress } from './progress-line.ts';
import { renderPages } from './render-pages.ts';
import { savedName } from './saved-name.ts';
import { table } from './table.ts';
import type { Terminal } from './terminal.ts';

const DEFAULT_LIMIT = 20;
/** Proxies close a silent connection after a minute. */
const LONG_POLL_MS = 30_000;
/** Longer than a restart of the service. */
const RETRIED_FOR_MS = 60_000;

const jsonLines = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const time = (iso: string) => iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z');

const HEAD = ['ID', 'STATUS', 'CREATED', 'EXPIRES', 'PAGES', 'REFERENCE'];
const rowOf = ({ id, status, created_at, expires_at, pages, reference }: AsyncRender) => [
  id,
  status,
  time(created_at),
  time(expires_at),
  String(pages ?? ''),
  reference ?? '',
];

/** `The page did not load. (render_failed, page_timeout)`, for a render that failed. */
export function errorText({ error }: AsyncRender): string {
  if (!error) return 'no reason given';
  return `${error.message} (${[error.code, error.reason].filter(Boolean).join(', ')})`;
}

function description(render: AsyncRender): string {
  const { attempts, pages, bytes, reference, sandbox, started_at, ended_at, links } = render;
  const lines: [string, string | number | undefined][] = [
    ['ID', render.id],
    ['Status', render.status],
    ['Error', render.error && errorText(render)],
    ['Reference', reference],
    ['Created', time(render.created_at)],
    ['Started', started_at && time(started_at)],
    ['Ended', ended_at && time(ended_at)],
    ['Expires', time(render.expires_at)],
    ['Attempts', attempts],
    ['Sandbox', sandbox ? 'yes' : undefined],
    ['Pages', pages],
    ['Size', bytes === undefined ? undefined : `${bytes} bytes`],
    ['PDF', links.pdf],
  ];
  return lines
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(11)}${value}\n`)
    .join('');
}

/** An ID is part of a path. */
const pathOf = (id: string) => `/v1/renders/${encodeURIComponent(id)}`;

interface ListOptions extends ServerOptions {
  status?: AsyncRenderStatus;
  batch?: string;
  limit: number;
  json?: true;
}

async function listed(api: HttpApi, { status, batch, limit }: ListOptions): Promise<AsyncRender[]> {
  const found: AsyncRender[] = [];
  const query = {
    limit: String(Math.min(limit, MAX_RENDERS_LISTED)),
    ...(status && { status }),
    ...(batch && { batch }),
  };
  for await (const { items } of renderPages(api, { query })) {
    found.push(...items);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Parses an integer of the command line. */
export const positive = (value: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new InvalidArgumentError('It must be 1 or more.');
  return Number(value);
};

/** Parses a duration of the command line to milliseconds. */
export const durationMs = (value: string): number => {
  const ms = parseDurationMs(value);
  if (ms === undefined || ms < 0)
    throw new InvalidArgumentError('It must be a duration, such as 90s or 10m.');
  return ms;
};

/** Long-polls until the render has ended, or for `timeoutMs`. Survives restarts of the service. */
async function awaited(api: HttpApi, id: string, timeoutMs: number): Promise<AsyncRender> {
  const deadline = performance.now() + timeoutMs;
  let { body: render } = await api.json<AsyncRender>(pathOf(id));
  while (!isFinalStatus(render.status) && performance.now() < deadline) {
    const polledAt = performance.now();
    const waitMs = Math.ceil(Math.min(deadline - polledAt, LONG_POLL_MS));
    const { body, headers } = await retried(
      () => api.json<AsyncRender>(`${pathOf(id)}?wait=${waitMs}ms`),
      Math.min(RETRIED_FOR_MS, deadline - polledAt),
    );
    render = body;
    // Too many long polls of the account: this one was answered at once.
    const afterMs = Number(headers.get('retry-after') ?? 0) * 1_000;
    const leftMs = Math.min(polledAt + waitMs - performance.now(), afterMs);
    if (!isFinalStatus(render.status) && leftMs > 0) await sleep(leftMs);
  }
  return render;
}

/** As it is if it is malformed. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The `filename` of the request, otherwise the ID. */
function nameOf({ headers }: Response, id: string): string {
  const [, encoded] =
    /filename\*=UTF-8''([^;]+)/i.exec(headers.get('content-disposition') ?? '') ??
    /filename="?([^";]+)/i.exec(headers.get('content-disposition') ?? '') ??
    [];
  const name = savedName(encoded && decoded(encoded));
  return name === savedName(undefined) ? `${id}.pdf` : name;
}

interface WaitOptions extends ServerOptions {
  output?: string;
  timeout: number;
}

async function waitAndSave(
  id: string,
  { output, timeout, ...server }: WaitOptions,
  notify: Terminal['notify'],
): Promise<void> {
  const api = new HttpApi(server);
  const render = await withProgress(`Waiting for ${id}`, awaited(api, id, timeout));
  if (!isFinalStatus(render.status))
    throw new CliError(
      `Render ${id} is still ${render.status}. It was not canceled. Wait again with \`${COMMAND} renders wait ${id}\`.`,
    );
  if (render.status === 'failed') throw new CliError(`Render ${id} failed: ${errorText(render)}`);
  if (render.status === 'canceled')
    throw new CliError(`Render ${id} was canceled. There is no PDF.`);
  if (render.status === 'expired')
    throw new CliError(
      `Render ${id} expired before it ended. Submit it again with a longer --ttl.`,
    );
  const response = await retried(() => api.request(`${pathOf(id)}/pdf`), RETRIED_FOR_MS);
  const path = output ?? nameOf(response, id);
  await savePdf(response.body!, path);
  notify(savedNotice(path, response.headers.get('x-pdf-pages')));
}

export function addRendersCommands(program: Command, { print, notify }: Terminal): void {
  const renders = program.command('renders').description('Manage asynchronous renders');
  const idArgument = ['<id>', `ID of the render (see \`${COMMAND} renders list\`)`] as const;

  addServerOptions(
    renders
      .command('list')
      .description('List asynchronous renders, newest first')
      .addOption(
        new Option('--status <status>', 'Only renders with this status').choices([
          ...ASYNC_RENDER_STATUSES,
        ]),
      )
      .option('--batch <id>', 'Only renders of this batch')
      .addOption(
        new Option('--limit <number>', 'The largest number of renders')
          .argParser(positive)
          .default(DEFAULT_LIMIT),
      )
      .option('--json', 'Print JSON instead of a table'),
  ).action(async (options: ListOptions) => {
    const found = await listed(new HttpApi(options), options);
    print(options.json ? jsonLines(found) : table(HEAD, found.map(rowOf)));
  });

  addServerOptions(
    renders
      .command('get')
      .argument(...idArgument)
      .description('Show an asynchronous render')
      .option('--json', 'Print JSON instead of lines'),
  ).action(async (id: string, { json, ...server }: ServerOptions & { json?: true }) => {
    const { body: render } = await new HttpApi(server).json<AsyncRender>(pathOf(id));
    print(json ? jsonLines(render) : description(render));
  });

  addServerOptions(
    renders
      .command('wait')
      .argument(...idArgument)
      .description('Wait for an asynchronous render and save its PDF')
      .option(
        '-o, --output <file>',
        'Output file, or - for standard output. Default: the filename of the render, otherwise its ID with .pdf',
      )
      .addOption(
        new Option('--timeout <duration>', 'How long to wait, such as 90s')
          .argParser(durationMs)
          .default(Number.POSITIVE_INFINITY, 'no limit'),
      ),
  )
    .addHelpText(
      'after',
      `\nThe exit code is 1 if the render failed, was canceled or expired, or has not ended in time.\n\nExample:\n  ${COMMAND} renders wait "$ID" -o invoice.pdf --timeout 10m`,
    )
    .action((id: string, options: WaitOptions) => waitAndSave(id, options, notify));

  addServerOptions(
    renders
      .command('cancel')
      .argument(...idArgument)
      .description('Cancel a queued or running asynchronous render'),
  ).action(async (id: string, server: ServerOptions) => {
    await new HttpApi(server).request(pathOf(id), { method: 'DELETE' });
    notify(`Canceled render ${id}.`);
  });
}
