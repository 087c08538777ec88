// Which calls of 2025-era clients run in this process, so that a later message can cancel one. Clients of the present revision just hang up.

/** Ids of sessions and messages are the clients': longer ones than anybody makes are not kept. */
const MAX_LENGTH = 200;

export interface Cancellations {
  /** `session`: as the client was told at `initialize`; without one nothing can be cancelled, since ids of messages repeat from client to client. */
  begin(grantId: string, session: string | undefined, id: unknown): { signal: AbortSignal; end(): void };
  /** Does nothing when there is no such call here. */
  cancel(grantId: string, session: string | undefined, id: unknown): void;
}

function nameOf(grantId: string, session: string | undefined, id: unknown): string | undefined {
  if (session === undefined || (typeof id !== 'string' && typeof id !== 'number')) return undefined;
  const name = JSON.stringify([grantId, session, id]);
  return name.length > MAX_LENGTH ? undefined : name;
}

/** `reason`: with what a cancelled call's signal aborts. */
export function createCancellations(reason: () => Error): Cancellations {
  const running = new Map<string, AbortController>();
  return {
    begin(...of) {
      const controller = new AbortController();
      const name = nameOf(...of);
      if (name !== undefined) running.set(name, controller);
      return {
        signal: controller.signal,
        end: () => {
          if (name !== undefined && running.get(name) === controller) running.delete(name);
        },
      };
    },
    cancel(...of) {
      const name = nameOf(...of);
      if (name !== undefined) running.get(name)?.abort(reason());
    },
  };
}
