// Which requests of the page are under way, for `wait_for_network_idle`: no connection for 500 ms.
// WebSockets are not counted, as a page that keeps one open is never idle.
import type { Session } from '../workers/session.ts';

export const IDLE_MS = 500;

export interface NetworkActivity {
  /** Resolves when nothing has been under way for IDLE_MS. */
  idle(): Promise<void>;
}

export function watchNetwork(session: Session): NetworkActivity {
  const open = new Set<string>();
  let quietSince = performance.now();
  let onChange = () => {};
  const done = (requestId: string) => {
    if (!open.delete(requestId) || open.size > 0) return;
    quietSince = performance.now();
    onChange();
  };
  session.on('Network.requestWillBeSent', ({ requestId, loaderId }) => {
    // The script of a worker, whose end is told to the worker alone, or a preflight, whose request
    // is under way itself.
    if (loaderId === '') return;
    open.add(requestId);
    onChange();
  });
  session.on('Network.loadingFinished', ({ requestId }) => done(requestId));
  session.on('Network.loadingFailed', ({ requestId }) => done(requestId));

  return {
    idle: () =>
      new Promise(resolve => {
        let timer: NodeJS.Timeout | undefined;
        onChange = () => {
          clearTimeout(timer);
          if (open.size > 0) return;
          timer = setTimeout(resolve, Math.max(0, IDLE_MS - (performance.now() - quietSince)));
        };
        void session.ended.then(() => clearTimeout(timer));
        onChange();
      }),
  };
}
