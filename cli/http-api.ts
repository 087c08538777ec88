// Requests of commands to the HTTP API: the options --key and --server, one method for all
// requests, and what errors of the connection and of the API print.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';

export interface ServerOptions {
  key?: string;
  server: string;
}

export interface HttpRequest {
  method?: 'GET' | 'POST' | 'DELETE';
  /** A value, sent as JSON, or bytes of another `type`. */
  body?: unknown;
  type?: string;
  signal?: AbortSignal | undefined;
}

/** After an error without Retry-After. */
export const RETRY_AFTER_MS = 2_000;

/** With these, no request was sent. */
const NOT_SENT = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH'],
  'UND_ERR_CONNECT_TIMEOUT',
];

/** The request failed. Without `status` there was no response. */
export class RequestError extends CliError {
  readonly status: number | undefined;
  /** Set when a later attempt may succeed. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    { status, retryAfterMs, cause }: { status?: number; retryAfterMs?: number; cause?: unknown },
  ) {
    super(message, 1, cause);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }

  /** True if the server may have done what was requested. */
  get isUnclear(): boolean {
    // A 2xx whose body cannot be read is an error, too.
    if (this.status !== undefined) return this.status >= 500 || this.status < 300;
    const { cause } = (this.cause ?? {}) as { cause?: { code?: string } };
    return !NOT_SENT.includes(cause?.code ?? '');
  }
}

export const addServerOptions = (command: Command): Command =>
  command
    .addOption(new Option('--key <key>', 'API key').env('PRESSROOM_KEY'))
    .addOption(
      new Option('--server <url>', 'Base URL of Pressroom')
        .env('PRESSROOM_SERVER')
        .default('http://localhost:8080'),
    );

/** For a response that is neither what was asked for nor an error of the API. */
export const notPressroom = (status: number) =>
  `The server returned status ${status} in an unexpected format. Check that it is a Pressroom API.`;

/** Parses JSON of a server. Control characters in it could change what a terminal shows. */
const parsed = (json: string): unknown =>
  JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' ? value.replace(/\p{Cc}/gu, ' ') : value,
  );

/** The API's error message, if the response has one. */
async function errorMessage(response: Response): Promise<string> {
  const body = await response.text().catch(() => '');
  try {
    const { error } = parsed(body) as {
      error: { code: string; message: string; request_id: string };
    };
    const message = `${error.message} (${error.code}, request ${error.request_id})`;
    return error.message.startsWith('No such endpoint')
      ? `${message}\nIf this server is up to date, asynchronous renders are off. The administrator turns them on with PRESSROOM_ASYNC=on.`
      : message;
  } catch {
    return notPressroom(response.status);
  }
}

async function failedResponse(response: Response): Promise<RequestError> {
  const { status, headers } = response;
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  const isTemporary = status === 429 || status >= 502;
  return new RequestError(await errorMessage(response), {
    status,
    ...(isTemporary && { retryAfterMs: after >= 0 ? after * 1_000 : RETRY_AFTER_MS }),
  });
}

/** Throws the usage error of a missing key or an invalid URL. */
export class HttpApi {
  readonly #key: string;
  readonly #server: string;

  constructor({ key, server }: ServerOptions) {
    if (!key)
      throw wrongUsage(
        `No API key given. Use --key or set PRESSROOM_KEY. Create a key with \`${COMMAND} keys create\`.`,
      );
    if (!URL.canParse(server))
      throw wrongUsage(
        `--server must be a URL, such as http://localhost:8080. \`${server}\` is not one.`,
      );
    this.#key = key;
    this.#server = server;
  }

  /** Rejects with RequestError unless the status is 2xx, or with the reason of the signal. */
  async request(path: string, { method, body, type, signal }: HttpRequest = {}): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(new URL(path, this.#server), {
        method: method ?? 'GET',
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(body !== undefined && { 'content-type': type ?? 'application/json' }),
        },
        ...(body !== undefined && { body: type ? (body as Buffer) : JSON.stringify(body) }),
        signal: signal ?? null,
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw this.#unreachable(error as Error);
    }
    if (!response.ok) throw await failedResponse(response);
    return response;
  }

  /** Rejects like `request`. Control characters in strings are replaced by spaces. */
  async json<T>(path: string, request: HttpRequest = {}): Promise<{ body: T; headers: Headers }> {
    const { status, headers, ...response } = await this.#read(path, request);
    try {
      return { body: parsed(response.text) as T, headers };
    } catch (error) {
      throw new RequestError(notPressroom(status), { status, cause: error });
    }
  }

  async #read(path: string, request: HttpRequest) {
    const response = await this.request(path, request);
    try {
      const { status, headers } = response;
      return { status, headers, text: await response.text() };
    } catch (error) {
      request.signal?.throwIfAborted();
      throw this.#unreachable(error as Error);
    }
  }

  #unreachable(error: Error): RequestError {
    const cause = error.cause as Error | undefined;
    return new RequestError(
      `Cannot connect to Pressroom at ${this.#server} (${cause?.message ?? error.message}). Start it with \`npm start\` or set --server.`,
      { cause: error, retryAfterMs: RETRY_AFTER_MS },
    );
  }
}

/** Repeats `work` while it fails temporarily, for `forMs`. Only for what may happen twice. */
export async function retried<T>(
  work: () => Promise<T>,
  forMs: number,
  signal?: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + forMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const afterMs = error instanceof RequestError ? error.retryAfterMs : undefined;
      if (afterMs === undefined || performance.now() + afterMs > deadline) throw error;
      await sleep(afterMs, undefined, signal && { signal });
    }
  }
}
