// Starts the complete service as `npm start` does, in its own processes with its own data folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Accounts } from '../api/accounts/accounts.ts';
import { parsePlans } from '../api/accounts/plans.ts';
import { connectStore } from '../api/store/store.ts';
import { silentLog } from '../common/log.ts';
import { managedUri } from '../standalone/mongod.ts';
import { MONGOD_FOLDER } from '../standalone/state.ts';
import { ownPort } from '../test/fault/harness/ports.ts';
import { eventually } from '../test/support/eventually.ts';
import { type Answer, httpCall, renderCall } from '../test/support/http-call.ts';
import type { AtEnd } from './script.ts';

export interface BenchService {
  /** The root process of the service. */
  pid: number;
  /**
   * Creates an account on the largest built-in plan, and returns a function that renders with its
   * key.
   */
  customer(name: string): Promise<Customer>;
  /** A trial render from an IP address, if the service trusts 127.0.0.1 as a proxy. */
  trial(html: string, address: string): Promise<Answer>;
}

/** Renders and resolves with any response. */
export type Customer = (html: string) => Promise<Answer>;

/** Throws if the response is not a PDF. */
export function mustBePdf({ status, body }: Pick<Answer, 'status' | 'body'>): void {
  if (status !== 200 || body.subarray(0, 5).toString() !== '%PDF-')
    throw new Error(`${status}: ${body.subarray(0, 500).toString()}`);
}

const ROOT = join(import.meta.dirname, '..');
/** Startup time limit on a busy machine; it takes a second on an idle one. */
const START_MS = 60_000;
const STOP_MS = 20_000;

async function newKey(uri: string, pepper: string, name: string): Promise<string> {
  const store = connectStore({ uri, operationTimeoutMs: 5_000 }, silentLog);
  await store.start();
  try {
    const accounts = new Accounts(store, { plans: parsePlans([]), peppers: [pepper] });
    await accounts.createAccount(name, { plan: 'scale' });
    return (await accounts.createKey(name, { name })).text;
  } finally {
    await store.stop(AbortSignal.timeout(5_000));
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(timer);
}

/** `env` overrides the variables of the benchmark. */
export async function startService(
  atEnd: AtEnd,
  env: Record<string, string> = {},
): Promise<BenchService> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-bench-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  const pepper = randomBytes(32).toString('base64url');
  const [port, gateway, operations] = [await ownPort(), await ownPort(), await ownPort()];
  const child = spawn(process.execPath, ['standalone/bootstrap.mjs', 'standalone/main.ts'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      PRESSROOM_DATA_DIR: folder,
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: String(port),
      PRESSROOM_GATEWAY_PORT: String(gateway),
      PRESSROOM_OPERATIONS_PORT: String(operations),
      PRESSROOM_DRAIN_DELAY: '0s',
      PRESSROOM_LOG_LEVEL: 'warn',
      PRESSROOM_PEPPER: pepper,
      MONGODB_URI: '',
      ...env,
    },
  });
  // Closes idle sockets before the service does; otherwise a render could fail.
  const agent = new Agent({ keepAlive: true, timeout: 1_000 });
  atEnd(async () => {
    agent.destroy();
    await stop(child);
  });

  await eventually(async () => {
    const { status, body } = await httpCall(port, 'GET', '/readyz');
    if (status !== 200) throw new Error(`the service is not ready: ${body.toString()}`);
  }, START_MS);
  const uri = await managedUri(join(folder, MONGOD_FOLDER));
  async function customer(name: string): Promise<Customer> {
    const key = await newKey(uri!, pepper, name);
    return html => renderCall(port, key, { html }, {}, agent);
  }
  return {
    pid: child.pid!,
    customer,
    trial: (html, address) => {
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
      const body = JSON.stringify({ html });
      return httpCall(port, 'POST', '/v1/trial/render', headers, body, agent);
    },
  };
}
