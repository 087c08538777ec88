// HTTP transport for the Kubernetes API. The client library provides addresses and credentials.
// Time limits, errors and watches are implemented here, because the library has no time limit for a
// call and hides errors of a watch.
import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { text } from 'node:stream/consumers';
import type { Cluster, KubeConfig } from '@kubernetes/client-node';

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'apply' | 'patch';

export interface KubernetesCall {
  verb: Verb;
  /** Plural name, for metrics and messages. */
  resource: string;
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** Time limit of the whole call. Defaults to that of the transport. */
  timeoutMs?: number | undefined;
}

/** A BOOKMARK contains only the `resourceVersion`. */
export type WatchEvent<T = unknown> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; object: T }
  | { type: 'ERROR'; object: { code?: number; message?: string } };

/** Callbacks and limits of a watch. */
export interface WatchOptions<T> {
  /** The watch is closed if nothing is received for this time. */
  idleMs: number;
  signal: AbortSignal;
  /** Called when the API server has accepted the watch. */
  onOpen?(): void;
  /** An exception ends the watch. */
  onEvent(event: WatchEvent<T>): void;
}

/** An error response of the API server. `reason` is such as Conflict, NotFound or Forbidden. */
export class KubernetesError extends Error {
  override name = 'KubernetesError';
  readonly status: number;
  readonly reason: string;

  constructor(
    call: Pick<KubernetesCall, 'verb' | 'resource' | 'path'>,
    status: number,
    body: string,
  ) {
    const { message, reason } = readStatus(body);
    super(`${call.verb} ${call.resource}: ${message || `the API server returned ${status}`}`);
    this.status = status;
    this.reason = reason || `Status${status}`;
  }
}

function readStatus(body: string): { message: string; reason: string } {
  try {
    const { message = '', reason = '' } = JSON.parse(body) as { message?: string; reason?: string };
    return { message, reason };
  } catch {
    return { message: body.slice(0, 300).trim(), reason: '' };
  }
}

/** Yields non-empty lines. The iterator of node:readline does not throw stream errors. */
async function* linesOf(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding('utf8');
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<string>) {
    const [first, ...lines] = chunk.split('\n') as [string, ...string[]];
    parts.push(first);
    length += first.length;
    if (length > EVENT_MAX_CHARACTERS)
      throw new Error(`a watch event is longer than ${EVENT_MAX_CHARACTERS} characters`);
    const last = lines.pop();
    if (last === undefined) continue;
    for (const line of [parts.join(''), ...lines]) if (line !== '') yield line;
    parts = [last];
    length = last.length;
  }
}

function parsed<T>({ verb, resource }: KubernetesCall, body: string): T {
  try {
    return JSON.parse(body) as T;
  } catch {
    throw new Error(
      `${verb} ${resource}: the response is not JSON, so it may not be from an API server: ${body.slice(0, 200)}`,
    );
  }
}

export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof KubernetesError && error.status === status;

/** For `catch`: throws unless the object does not exist. */
export function ignoreNotFound(error: unknown): undefined {
  if (!hasStatus(error, 404)) throw error;
}

const METHODS: Record<Verb, string> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  apply: 'PATCH',
  patch: 'PATCH',
};
const CONTENT_TYPES: Partial<Record<Verb, string>> = {
  apply: 'application/apply-patch+yaml',
  patch: 'application/merge-patch+json',
};

/** Limit of a watch event: an object has at most 3 MB. */
const EVENT_MAX_CHARACTERS = 16 * 2 ** 20;
/** Limit of a response: a page of 500 pods has at most 10 MB. */
const RESPONSE_MAX_BYTES = 64 * 2 ** 20;

export type CountCall = (call: Pick<KubernetesCall, 'verb' | 'resource'>, outcome: string) => void;

interface TransportOptions {
  /** Default time limit of a whole call. */
  timeoutMs: number;
  userAgent: string;
  /** Called with the outcome of each call: `ok`, the status, or `no_answer`. */
  count: CountCall;
}

async function read(response: IncomingMessage): Promise<string> {
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES)
      response.destroy(new Error(`the response is larger than ${RESPONSE_MAX_BYTES} bytes`));
  });
  return await text(response);
}

async function throwUnlessOk(call: KubernetesCall, response: IncomingMessage): Promise<void> {
  const status = response.statusCode ?? 0;
  if (status >= 200 && status < 300) return;
  throw new KubernetesError(call, status, await read(response));
}

export class Transport {
  readonly #config: KubeConfig;
  readonly #options: TransportOptions;
  readonly #cluster: Cluster;
  readonly #base: URL;
  /**
   * Separate agents for calls and watches: a watch holds its connection for minutes, and there are
   * several per namespace, so their number of connections is not limited.
   */
  readonly #callAgent: HttpAgent;
  readonly #watchAgent: HttpAgent;

  constructor(config: KubeConfig, options: TransportOptions) {
    this.#config = config;
    this.#options = options;
    const cluster = config.getCurrentCluster();
    if (!cluster) throw new Error('the kubeconfig has no current cluster');
    this.#cluster = cluster;
    this.#base = new URL(cluster.server);
    this.#callAgent = this.#createAgent(64);
    this.#watchAgent = this.#createAgent(Number.POSITIVE_INFINITY);
  }

  /**
   * Resolves with the parsed response. Rejects with KubernetesError on an error response, and with
   * another Error if there is no response in time.
   */
  call<T>(call: KubernetesCall): Promise<T> {
    return this.#counted(call, async () => {
      const limitMs = call.timeoutMs ?? this.#options.timeoutMs;
      const signal = AbortSignal.timeout(limitMs);
      try {
        const response = await this.#send(call, this.#callAgent, signal);
        await throwUnlessOk(call, response);
        return parsed<T>(call, await read(response));
      } catch (error) {
        if (error instanceof KubernetesError || !signal.aborted) throw error;
        throw new Error(
          `${call.verb} ${call.resource}: the API server did not respond within ${limitMs} ms`,
          { cause: error },
        );
      }
    });
  }

  /**
   * Reads events until the API server ends the watch. Rejects on an error response, a broken
   * connection, or if nothing is received for `idleMs`.
   */
  watch<T>(
    parts: Omit<KubernetesCall, 'verb' | 'body'>,
    { idleMs, signal, onOpen, onEvent }: WatchOptions<T>,
  ): Promise<void> {
    const call: KubernetesCall = {
      ...parts,
      verb: 'watch',
      query: { ...parts.query, watch: true, allowWatchBookmarks: true },
    };
    return this.#counted(call, async () => {
      const silence = new AbortController();
      const idle = setTimeout(
        () => silence.abort(new Error(`watch ${call.resource}: nothing received for ${idleMs} ms`)),
        idleMs,
      );
      const ended = AbortSignal.any([signal, silence.signal]);
      try {
        const response = await this.#send(call, this.#watchAgent, ended);
        await throwUnlessOk(call, response);
        onOpen?.();
        response.on('data', () => idle.refresh());
        // A broken connection throws here; a regular end of the watch does not.
        for await (const line of linesOf(response)) onEvent(JSON.parse(line) as WatchEvent<T>);
        ended.throwIfAborted();
      } catch (error) {
        throw silence.signal.aborted ? silence.signal.reason : error;
      } finally {
        clearTimeout(idle);
      }
    });
  }

  close(): void {
    this.#callAgent.destroy();
    this.#watchAgent.destroy();
  }

  #isSecure(): boolean {
    return this.#base.protocol === 'https:';
  }

  #createAgent(maxSockets: number): HttpAgent {
    return new (this.#isSecure() ? HttpsAgent : HttpAgent)({
      keepAlive: true,
      maxSockets,
      scheduling: 'lifo',
    });
  }

  async #counted<T>(call: KubernetesCall, work: () => Promise<T>): Promise<T> {
    const { count } = this.#options;
    try {
      const result = await work();
      count(call, 'ok');
      return result;
    } catch (error) {
      count(call, error instanceof KubernetesError ? String(error.status) : 'no_answer');
      throw error;
    }
  }

  async #send(
    call: KubernetesCall,
    agent: HttpAgent,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const options = await this.#requestOptions(call, agent, signal);
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    return await new Promise((resolve, reject) => {
      const request = (this.#isSecure() ? requestHttps : requestHttp)(options, resolve);
      request.on('error', reject);
      if (body !== undefined)
        request.setHeader('Content-Type', CONTENT_TYPES[call.verb] ?? 'application/json');
      request.end(body);
    });
  }

  async #requestOptions(
    { verb, path, query = {} }: KubernetesCall,
    agent: HttpAgent,
    signal: AbortSignal,
  ): Promise<RequestOptions> {
    const url = new URL(this.#base.href.replace(/\/$/, '') + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    const options: RequestOptions = { method: METHODS[verb], headers: {}, signal };
    // Reads the credential files each time: a service account token is rotated every hour.
    await this.#config.applyToHTTPSOptions(options);
    return {
      ...options,
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: url.pathname + url.search,
      agent: this.#cluster.proxyUrl ? options.agent : agent,
      headers: {
        ...options.headers,
        Accept: 'application/json',
        'User-Agent': this.#options.userAgent,
      },
    };
  }
}
