// A copy of a kind's objects that is kept current: lists, watches, and starts again by itself
// however a watch ends.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { type KubernetesObject, type ObjectList, pathOf, type Resource } from './resources.ts';
import { hasStatus, type Transport, type WatchEvent } from './transport.ts';

/** A page of a list. */
const PAGE = 500;
/**
 * The API server ends a watch after this time, so that watches move to other API servers now and
 * then.
 */
const WATCH_S = { least: 240, most: 480 };
/**
 * Bookmarks come about once a minute: more than two that are missing mean that the API server is
 * gone.
 */
const IDLE_MS = 150_000;
const BACKOFF_MS = { first: 500, most: 30_000 };
/** A watch that lasted so long was successful: the next failure counts as a first one. */
const GOOD_MS = 5_000;
/**
 * A watch that was accepted and then cut is started again within four seconds, however long the API
 * server was away before: no events arrive meanwhile.
 */
const MOST_AFTER_OPEN = 4;

interface Options<T extends KubernetesObject> {
  resource: Resource;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
  labelSelector?: string;
  transport: Transport;
  log: Log;
  /** Reduces an object to what is kept in memory. */
  keep?(object: T): T;
  /**
   * Called after the copy has changed. `before` is undefined for a new object, `now` for a deleted
   * one. It must not throw.
   */
  onChange(now: T | undefined, before: T | undefined): void;
  /** A watch or a list ended before its time. */
  onRestart(resource: Resource): void;
  random?: () => number;
}

export const keyOf = ({ metadata }: KubernetesObject): string =>
  `${metadata.namespace}/${metadata.name}`;

/**
 * Its start waits for nothing: an API server that is away does not keep the process from starting.
 * See `synced`.
 */
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

  /** Whether a whole list has been read. */
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
        // An API server that ends each watch at once must not be asked in a hot loop.
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
          'a watch ended and is started again',
        );
        // After some failures in a row the version itself may be what is wrong.
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
   * The copy becomes the list: objects that are missing in it were deleted while there was no
   * watch. Returns its version.
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
      // One by one: a server that ignores the limit may send more than fit into the arguments of a
      // call.
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
      // What was received before it broke off counts.
      throw Object.assign(error as Error, { version, opened });
    }
    return version;
  }

  #put(object: T): void {
    const { keep, onChange } = this.#options;
    const key = keyOf(object);
    const before = this.#objects.get(key);
    // A watch may repeat what was in the list.
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
