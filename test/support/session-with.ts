// A session whose commands go through another function.
import type { Command, Session } from '../../api/workers/session.ts';

export const sessionWith = (session: Session, command: Command): Session => ({
  worker: session.worker,
  frameId: session.frameId,
  sealed: session.sealed,
  ended: session.ended,
  command,
  on: (event, listener) => session.on(event, listener),
  close: () => session.close(),
  abandon: () => session.abandon(),
});
