// A cache of the objects of a resource, as the Reflector of client-go: lists, watches, and restarts
// a watch however it ends.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { type KubernetesObject, type ObjectList, pathOf, type Resource } from './resources.ts';
import { hasStatus, type Transport, type WatchEvent } from './transport.ts';

/** Page size of a list. */
const PAGE = 500;
/** Watch timeout, so that watches move between API servers from time to time. */
const WATCH_S = { least: 240, most: 480 };
/**
 * The API server sends a bookmark about once a minute. Without two of them it is considered dead.
 */
const IDLE_MS = 150_000;
const BACKOFF_MS = { first: 500, most: 30_000 };
/** A watch that lasted this long was successful and resets the backoff. */
const GOOD_MS = 5_000;
/**
 * Limits the backoff to four seconds after a watch that was accepted and then cut, because no
 * events arrive in the meantime.
 */
const MOST_AFTER_OPEN = 4;

interface Options<T extends KubernetesObject> {
  resource: Resource;
  /** Undefined for all namespaces. */
  namespace: string | undefined;
  labelSelector?: string;
  transport: Transport;
  log: Log;
  /** Reduces an object to what is kept in memory. */
  keep?(object: T): T;
  /**
   * Called after the cache has changed. `before` is undefined for a new object, `now` for a deleted
   * one. Must not throw.
   */
  onChange(now: T | undefined, before: T | undefined): void;
  /** Called when a watch or a list failed. */
  onRestart(resource: Resource): void;
  random?: () => number;
}

export const keyOf = ({ metadata }: KubernetesObject): string =>
  `${metadata.namespace}/${metadata.name}`;

/** `start` does not wait for the API server, so the process starts without it. See `synced`. */
export class Reflector<T extends KubernetesObject> implements Service {
  readonly name: string;
  readonly #options: Options<T>;
  readonly #path: string;
  readonly #random: () => number;
  readonly #ended = new AbortController();
  #objects = new Map<string, T>();
  #synced = false;
  #running: Promise<void> | undefined;

  constructor(options: Options<T>) {
    this.name = `watch ${options.resource}`;
    this.#options = options;
    this.#path = pathOf(options.resource, options.namespace);
    this.#random = options.random ?? Math.random;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  all(): Iterable<T> {
    return this.#objects.values();
  }

  /** Whether a complete list has been read. */
  synced(): boolean {
    return this.#synced;
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    this.#objects = new Map();
  }

  async #run(): Promise<void> {
    let version: string | undefined;
    let failures = 0;
    while (!this.#ended.signal.aborted) {
      const begun = performance.now();
      try {
        version ??= await this.#list();
        version = await this.#watch(version);
        failures = 0;
        // Prevents a hot loop if the API server ends each watch immediately.
        if (performance.now() - begun < 1_000) await this.#pause(1);
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        const { resource, namespace, log, onRestart } = this.#options;
        onRestart(resource);
        const expired = hasStatus(error, 410) || (error as { expired?: boolean }).expired === true;
        version = expired ? undefined : ((error as { version?: string }).version ?? version);
        const most = (error as { opened?: boolean }).opened
          ? MOST_AFTER_OPEN
          : Number.POSITIVE_INFINITY;
        failures = performance.now() - begun > GOOD_MS ? 1 : Math.min(failures + 1, most);
        log[failures > 1 ? 'warn' : 'info'](
          { resource, namespace, failures, err: error },
          'watch failed; restarting',
        );
        // After some consecutive failures, the version itself may be the cause.
        if (failures >= 5) version = undefined;
        await this.#pause(failures);
      }
    }
  }

  async #pause(failures: number): Promise<void> {
    const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** (failures - 1));
    await sleep(most * (0.5 + this.#random() / 2), undefined, { signal: this.#ended.signal }).catch(
      () => {},
    );
  }

  /**
   * Replaces the cache by a new list. Objects that are missing in it were deleted while there was
   * no watch. Returns the version of the list.
   */
  async #list(): Promise<string> {
    const { metadata, items } = await this.#listAll();
    const listed = new Set(items.map(keyOf));
    for (const object of [...this.#objects.values()])
      if (!listed.has(keyOf(object))) this.#remove(object);
    for (const object of items) this.#put(object);
    this.#synced = true;
    return metadata.resourceVersion;
  }

  async #listAll(): Promise<ObjectList<T>> {
    const { transport, resource, labelSelector } = this.#options;
    const items: T[] = [];
    for (let token: string | undefined; ; ) {
      this.#ended.signal.throwIfAborted();
      const query = { labelSelector, limit: PAGE, continue: token };
      const page: ObjectList<T> = await transport.call({
        verb: 'list',
        resource,
        path: this.#path,
        query,
      });
      // Not with a spread: a server that ignores the limit may send more items than a function call
      // can take as arguments.
      for (const item of page.items) items.push(item);
      token = page.metadata.continue;
      if (!token) return { metadata: page.metadata, items };
    }
  }

  /** Watches until the API server ends it. Returns the version to continue from. */
  async #watch(from: string): Promise<string> {
    const { transport, resource, labelSelector } = this.#options;
    let version = from;
    let opened = false;
    const onOpen = () => {
      opened = true;
    };
    const onEvent = (event: WatchEvent<T>) => {
      if (event.type === 'ERROR') {
        const { code, message } = event.object;
        throw Object.assign(
          new Error(`watch ${resource}: ${message ?? 'the API server sent an error'}`),
          { expired: code === 410 },
        );
      }
      version = event.object.metadata.resourceVersion;
      if (event.type === 'DELETED') this.#remove(event.object);
      else if (event.type !== 'BOOKMARK') this.#put(event.object);
    };
    const timeoutSeconds = Math.round(
      WATCH_S.least + this.#random() * (WATCH_S.most - WATCH_S.least),
    );
    try {
      await transport.watch<T>(
        {
          resource,
          path: this.#path,
          query: { labelSelector, resourceVersion: from, timeoutSeconds },
        },
        { idleMs: IDLE_MS, signal: this.#ended.signal, onOpen, onEvent },
      );
    } catch (error) {
      // The next watch continues after the events that were received.
      throw Object.assign(error as Error, { version, opened });
    }
    return version;
  }

  #put(object: T): void {
    const { keep, onChange } = this.#options;
    const key = keyOf(object);
    const before = this.#objects.get(key);
    // A watch may repeat objects of the list.
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    const kept = keep ? keep(object) : object;
    this.#objects.set(key, kept);
    onChange(kept, before);
  }

  #remove(object: T): void {
    const key = keyOf(object);
    const before = this.#objects.get(key);
    if (!before) return;
    this.#objects.delete(key);
    this.#options.onChange(undefined, before);
  }
}
