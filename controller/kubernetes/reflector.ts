// A copy of a kind's objects that is kept current: lists, watches, and begins again by itself however a watch ends.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { type KubernetesObject, type ObjectList, pathOf, type Resource } from './resources.ts';
import { hasStatus, type Transport, type WatchEvent } from './transport.ts';

/** A page of a list. */
const PAGE = 500;
/** The API server ends a watch after this time, so that watches move to other API servers now and then. */
const WATCH_S = { least: 240, most: 480 };
/** Bookmarks come about once a minute: more than two that are missing mean that nobody is there. */
const IDLE_MS = 150_000;
const BACKOFF_MS = { first: 500, most: 30_000 };
/** A watch that lived for so long was a good one: the next failure is a first one again. */
const GOOD_MS = 5_000;
/** One that was accepted and cut is begun again within four seconds, however long the API server was away before: nothing is heard meanwhile. */
const MOST_AFTER_OPEN = 4;

export interface Reflector<T extends KubernetesObject> extends Service {
  get(key: string): T | undefined;
  all(): Iterable<T>;
  /** Whether a whole list has been read. */
  synced(): boolean;
}

interface Options<T extends KubernetesObject> {
  resource: Resource;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
  labelSelector?: string;
  transport: Transport;
  log: Log;
  /** What is kept of an object: the less, the less memory. */
  keep?(object: T): T;
  /** Called after the copy has changed. `before` and `now` are undefined when it was not, or is not any more. It must not throw. */
  onChange(now: T | undefined, before: T | undefined): void;
  /** A watch or a list ended in another way than by its time. */
  onRestart(resource: Resource): void;
  random?: () => number;
}

export const keyOf = ({ metadata }: KubernetesObject): string => `${metadata.namespace}/${metadata.name}`;

/** Starting it waits for nothing: an API server that is away does not keep the process from starting. `synced` tells when it has begun. */
export function createReflector<T extends KubernetesObject>(options: Options<T>): Reflector<T> {
  const {
    resource,
    namespace,
    labelSelector,
    transport,
    log,
    keep = object => object,
    onChange,
    onRestart,
    random = Math.random,
  } = options;
  const path = pathOf(resource, namespace);
  const ended = new AbortController();
  let objects = new Map<string, T>();
  let synced = false;
  let running: Promise<void> | undefined;

  function put(object: T): void {
    const key = keyOf(object);
    const before = objects.get(key);
    // A watch may tell what the list has told already.
    if (before?.metadata.resourceVersion === object.metadata.resourceVersion) return;
    const kept = keep(object);
    objects.set(key, kept);
    onChange(kept, before);
  }

  function remove(object: T): void {
    const key = keyOf(object);
    const before = objects.get(key);
    if (!before) return;
    objects.delete(key);
    onChange(undefined, before);
  }

  async function listAll(): Promise<ObjectList<T>> {
    const items: T[] = [];
    for (let token: string | undefined; ; ) {
      ended.signal.throwIfAborted();
      const query = { labelSelector, limit: PAGE, continue: token };
      const page: ObjectList<T> = await transport.call({ verb: 'list', resource, path, query });
      // One by one: a server that heeds no limit may send more than fit into the arguments of a call.
      for (const item of page.items) items.push(item);
      token = page.metadata.continue;
      if (!token) return { metadata: page.metadata, items };
    }
  }

  /** The copy becomes what the list says: what is missing there has gone while nobody watched. */
  async function list(): Promise<string> {
    const { metadata, items } = await listAll();
    const there = new Set(items.map(keyOf));
    for (const object of [...objects.values()]) if (!there.has(keyOf(object))) remove(object);
    for (const object of items) put(object);
    synced = true;
    return metadata.resourceVersion;
  }

  /** Watches until the API server ends it; gives the version from which to go on. */
  async function watch(from: string): Promise<string> {
    let version = from;
    let opened = false;
    const onOpen = () => {
      opened = true;
    };
    const onEvent = ({ type, object }: WatchEvent) => {
      if (type === 'ERROR') {
        const { code, message } = object as { code?: number; message?: string };
        throw Object.assign(new Error(`watch ${resource}: ${message ?? 'the API server sent an error'}`), { expired: code === 410 });
      }
      const given = object as unknown as T;
      version = given.metadata.resourceVersion;
      if (type === 'DELETED') remove(given);
      else if (type !== 'BOOKMARK') put(given);
    };
    const timeoutSeconds = Math.round(WATCH_S.least + random() * (WATCH_S.most - WATCH_S.least));
    try {
      await transport.watch(
        { resource, path, query: { labelSelector, resourceVersion: from, timeoutSeconds } },
        { idleMs: IDLE_MS, signal: ended.signal, onOpen, onEvent },
      );
    } catch (error) {
      // What was heard before it broke off counts.
      throw Object.assign(error as Error, { version, opened });
    }
    return version;
  }

  async function run(): Promise<void> {
    let version: string | undefined;
    let failures = 0;
    while (!ended.signal.aborted) {
      const begun = performance.now();
      try {
        version ??= await list();
        version = await watch(version);
        failures = 0;
        // An API server that ends each watch at once must not be asked in a hot loop.
        if (performance.now() - begun < 1_000) await pause(1);
      } catch (error) {
        if (ended.signal.aborted) return;
        onRestart(resource);
        const expired = hasStatus(error, 410) || (error as { expired?: boolean }).expired === true;
        version = expired ? undefined : ((error as { version?: string }).version ?? version);
        const most = (error as { opened?: boolean }).opened ? MOST_AFTER_OPEN : Number.POSITIVE_INFINITY;
        failures = performance.now() - begun > GOOD_MS ? 1 : Math.min(failures + 1, most);
        log[failures > 1 ? 'warn' : 'info']({ resource, namespace, failures, err: error }, 'a watch ended and is begun again');
        // After some failures in a row the version itself may be what is wrong.
        if (failures >= 5) version = undefined;
        await pause(failures);
      }
    }
  }

  async function pause(failures: number): Promise<void> {
    const most = Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** (failures - 1));
    await sleep(most * (0.5 + random() / 2), undefined, { signal: ended.signal }).catch(() => {});
  }

  return {
    name: `watch ${resource}`,
    get: key => objects.get(key),
    all: () => objects.values(),
    synced: () => synced,
    start: async () => {
      running = run();
    },
    stop: async () => {
      ended.abort();
      await running;
      objects = new Map();
    },
  };
}
