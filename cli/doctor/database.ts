// MongoDB for `pressroom doctor`: role, version, members and clock, and the duration of a read and of
// a write with write concern majority.
import { databaseChecks } from '../../api/console/reports/health-checks.ts';
import { connectStore, type ServerState } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import {
  type CheckLevel,
  checkError,
  checkPassed,
  checkWarning,
  type DoctorCheck,
} from './doctor-check.ts';

/** Milliseconds, or why it failed. */
type Measured = { ms: number } | { error: string };

export type DatabaseFacts =
  | { unreachable: string }
  | { state: ServerState; write: Measured; read: Measured };

const TIMEOUT_MS = 5_000;
/** Each render waits for one write before it starts. */
const SLOW_WRITE_MS = 100;
const SLOW_READ_MS = 50;

const LEVELS: Record<'ok' | 'warn' | 'fail', CheckLevel> = {
  ok: 'ok',
  warn: 'warning',
  fail: 'error',
};

/** The driver's messages contain hosts and ports, but no password. */
const reasonOf = (error: unknown) =>
  (error as Error).message.split('\n')[0]!.slice(0, 300).replace(/\.$/, '');

async function measured(operation: () => Promise<unknown>): Promise<Measured> {
  const startMs = performance.now();
  try {
    await operation();
    return { ms: Math.round(performance.now() - startMs) };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

/** Writes one document to the collection `meta` and deletes it. Never rejects. */
export async function databaseFacts(uri: string, timeoutMs = TIMEOUT_MS): Promise<DatabaseFacts> {
  const store = connectStore({ uri, operationTimeoutMs: timeoutMs }, silentLog);
  const _id = `doctor ${process.pid} ${Date.now()}`;
  try {
    const state = await store.serverState();
    const write = await measured(() =>
      store.limited(
        store.meta.updateOne({ _id }, { $set: { until: new Date() } }, { upsert: true }),
      ),
    );
    const read = await measured(() => store.limited(store.meta.findOne({ _id }, store.limits)));
    await store.limited(store.meta.deleteOne({ _id }, store.limits)).catch(() => {});
    return { state, write, read };
  } catch (error) {
    return { unreachable: reasonOf(error) };
  } finally {
    await store.stop(AbortSignal.timeout(timeoutMs));
  }
}

export function checkDatabase(facts: DatabaseFacts): DoctorCheck[] {
  if ('unreachable' in facts)
    return [
      checkError(
        'Database',
        `MongoDB does not respond: ${facts.unreachable}.`,
        'Check that MongoDB runs and has a primary, that MONGODB_URI is right, and that a network policy allows the connection.',
      ),
    ];
  const { state } = facts;
  if (state.unsuitable !== undefined)
    return [
      checkError(
        'Database',
        state.unsuitable,
        'Set MONGODB_URI to a replica set of MongoDB 6.0 or newer.',
      ),
    ];
  const general = databaseChecks(state).map(
    ({ name, status, message, hint }): DoctorCheck => ({
      subject: name,
      level: LEVELS[status],
      message,
      ...(hint !== null && { fix: hint }),
    }),
  );
  return [...general, role(state), writeConcern(facts.write), reading(facts.read)];
}

const role = ({ writable }: ServerState): DoctorCheck =>
  writable
    ? checkPassed('Primary', 'The replica set has a primary.')
    : checkError(
        'Primary',
        'The connection leads to a member that is not the primary.',
        'Name the replica set in MONGODB_URI (replicaSet=…) and remove directConnection.',
      );

function writeConcern(write: Measured): DoctorCheck {
  const subject = 'Write concern';
  if ('error' in write)
    return checkError(
      subject,
      `A write with write concern majority failed: ${write.error}.`,
      'Check that a majority of the members is up and that the database user has the role readWrite.',
    );
  const message = `A write with write concern majority takes ${write.ms} ms.`;
  return write.ms <= SLOW_WRITE_MS
    ? checkPassed(subject, message)
    : checkWarning(
        subject,
        message,
        'Each render waits for such a write, so check the disks of MongoDB and the network between its members.',
      );
}

function reading(read: Measured): DoctorCheck {
  const subject = 'Read';
  if ('error' in read)
    return checkError(
      subject,
      `A read from the primary failed: ${read.error}.`,
      'Check that the database user has the role readWrite.',
    );
  const message = `A read from the primary takes ${read.ms} ms.`;
  return read.ms <= SLOW_READ_MS
    ? checkPassed(subject, message)
    : checkWarning(subject, message, 'Move MongoDB closer to the API, or check its load.');
}
