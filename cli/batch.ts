// `pressroom batch`: renders the requests of an NDJSON file as asynchronous renders and saves their
// PDFs in a directory. A later run continues where the last one stopped.
import { createReadStream } from 'node:fs';
import { type Command, Option } from 'commander';
import { MAX_BATCH_RENDERS } from '../common/contract/batches.ts';
import { BatchDirectory } from './batch-directory.ts';
import { BatchDownloads, cancelBatch, type OpenBatch } from './batch-downloads.ts';
import { BatchInput, type InputPart } from './batch-input.ts';
import { BatchProgress } from './batch-progress.ts';
import { BatchSubmission } from './batch-submission.ts';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';
import {
  addServerOptions,
  HttpApi,
  RequestError,
  retried,
  type ServerOptions,
} from './http-api.ts';
import { durationMs, positive } from './renders.ts';
import type { Terminal } from './terminal.ts';

interface BatchOptions extends ServerOptions {
  output: string;
  batchSize: number;
  retryFor: number;
  adopt?: string;
  resubmit?: true;
  cancel?: true;
}

interface BatchRun {
  api: HttpApi;
  directory: BatchDirectory;
  progress: BatchProgress;
  options: BatchOptions;
  signal: AbortSignal;
  notify: Terminal['notify'];
}

async function* read(file: string): AsyncGenerator<Buffer, void> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (error) {
    throw new CliError(
      `Cannot read ${file} (${(error as NodeJS.ErrnoException).code}). Use a file with one render request per line, or - for standard input.`,
      1,
      error,
    );
  }
}

const otherInput = (path: string, line: number) =>
  new CliError(
    `${path} belongs to another input: it differs from what was submitted, at line ${line} or before. Run the command with the unchanged input, or with another directory as --output.`,
  );

/** Submits what was not submitted before, and saves all PDFs. Returns what has no PDF. */
async function renderAll(file: string, run: BatchRun) {
  const { directory, progress, options, signal } = run;
  const { state } = directory;
  const deps = { ...run, retryForMs: options.retryFor };
  const downloads = new BatchDownloads(deps);
  const open: OpenBatch[] = [];
  const makeRoom = async () => {
    const oldest = open.shift();
    if (oldest) await downloads.collect(oldest);
    return oldest !== undefined;
  };
  const waits = ({ message, status }: RequestError) => {
    progress.clear();
    const hint = status === 429 ? ' With --batch-size, batches are smaller.' : '';
    run.notify(`${message}\nTrying again.${hint}`);
  };
  const submission = new BatchSubmission({ ...deps, makeRoom, waits });
  const input = new BatchInput(read(file));
  if (options.resubmit) delete state.submitting;
  const earlier = [...state.batches];
  const sizes = [...earlier, ...(state.submitting ? [state.submitting] : [])];
  const idOf = async (part: InputPart, index: number) => {
    const known = earlier[index];
    if (!known && state.submitting && options.adopt) return submission.adopt(part, options.adopt);
    if (!known) return submission.submit(part);
    if (known.sha256 !== part.sha256) throw otherInput(directory.path, part.requests.at(-1)!.line);
    return known.id;
  };
  let lastLine = 0;
  try {
    for (let index = 0; ; index++) {
      signal.throwIfAborted();
      const part = await input.part(sizes[index]?.requests ?? options.batchSize);
      if (!part && index < earlier.length) throw otherInput(directory.path, lastLine + 1);
      if (!part) break;
      const { requests } = part;
      lastLine = requests.at(-1)!.line;
      open.push({ id: await idOf(part, index), requests });
      progress.submitted(requests.length);
    }
  } finally {
    await input.close();
  }
  if (lastLine === 0) throw new CliError(`${file === '-' ? 'Standard input' : file} is empty.`);
  progress.allSubmitted();
  while (await makeRoom());
  return downloads.failed;
}

/** Aborts at the first Ctrl-C. The second one ends the process at once. */
function untilInterrupted(): { signal: AbortSignal; stopListening: () => void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
  for (const name of SIGNALS) process.once(name, stop);
  return {
    signal: controller.signal,
    stopListening: () => {
      for (const name of SIGNALS) process.removeListener(name, stop);
    },
  };
}

async function renderBatch(
  file: string,
  options: BatchOptions,
  { notify }: Terminal,
): Promise<void> {
  const api = new HttpApi(options);
  const directory = await BatchDirectory.open(options.output);
  const progress = new BatchProgress(process.stderr);
  const { signal, stopListening } = untilInterrupted();
  const run = { api, directory, progress, options, signal, notify };
  try {
    const failed = await renderAll(file, run);
    progress.end();
    for (const { line, message } of failed.sort((a, b) => a.line - b.line))
      notify(`Line ${line}: ${message}`);
    notify(`${progress.summary(options.output)}.`);
    if (failed.length > 0) process.exitCode = 1;
  } catch (error) {
    progress.end();
    if (!signal.aborted && !(error instanceof RequestError)) throw error;
    const why = signal.aborted ? 'Stopped.' : (error as Error).message;
    const next = `${progress.summary(options.output)}. Submitted renders go on.\nContinue: run the same command again.\nCancel them: run it with --cancel.`;
    const isStarted = directory.state.batches.length > 0;
    throw new CliError(isStarted ? `${why}\n${next}` : why, 1, error);
  } finally {
    stopListening();
    await directory.unlock();
  }
}

/** Cancels all batches that were submitted from this directory. */
async function cancelAll(options: BatchOptions, { notify }: Terminal): Promise<void> {
  const api = new HttpApi(options);
  const directory = await BatchDirectory.open(options.output);
  let canceled = 0;
  try {
    const { batches } = directory.state;
    if (batches.length === 0)
      throw new CliError(`Nothing was submitted from ${options.output}. Check --output.`);
    // The last one first, so that its renders do not start meanwhile.
    for (const { id } of batches.toReversed())
      canceled += (await retried(() => cancelBatch(api, id), options.retryFor)).counts.canceled;
  } finally {
    await directory.unlock();
  }
  notify(`${canceled} ${canceled === 1 ? 'render is' : 'renders are'} canceled.`);
}

export function addBatchCommand(program: Command, terminal: Terminal): void {
  addServerOptions(
    program
      .command('batch')
      .argument('<file>', 'File with one render request (JSON) per line, or - for standard input')
      .description('Render many requests and save their PDFs, resumable')
      .requiredOption('-o, --output <directory>', 'Directory for the PDFs and the state of the run')
      .addOption(
        new Option(
          '--batch-size <number>',
          `Requests per batch, at most ${MAX_BATCH_RENDERS} and at most what your plan lets wait`,
        )
          .argParser(positive)
          .default(MAX_BATCH_RENDERS),
      )
      .addOption(
        new Option(
          '--retry-for <duration>',
          'How long to retry while the queue is full or the server is unavailable',
        )
          .argParser(durationMs)
          .default(600_000, '10m'),
      )
      .option(
        '--adopt <batch-id>',
        'After a lost response: the batch that the server has, instead of submitting again',
      )
      .option('--resubmit', 'After a lost response: submit again what the server may have')
      .option('--cancel', 'Cancel what was submitted from the directory and has not ended'),
  )
    .addHelpText(
      'after',
      `\nRun the same command again to continue after Ctrl-C or an error. The PDF of line 42 is 000042.pdf, or 000042-REFERENCE.pdf if the request has a reference or a filename. The exit code is 1 if a render has no PDF.\n\nExamples:\n  ${COMMAND} batch invoices.ndjson -o invoices\n  ${COMMAND} batch invoices.ndjson -o invoices --cancel`,
    )
    .action((file: string, options: BatchOptions) => {
      if (options.batchSize > MAX_BATCH_RENDERS)
        throw wrongUsage(`--batch-size must be at most ${MAX_BATCH_RENDERS}.`);
      return options.cancel ? cancelAll(options, terminal) : renderBatch(file, options, terminal);
    });
}
