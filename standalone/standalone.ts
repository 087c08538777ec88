// Wires Chrome, mongod, worker and API on one machine for `npm start`. Owns the start order and the
// data folder.
import { join } from 'node:path';
import type { Api } from '../api/api.ts';
import { readApiConfig } from '../api/config.ts';
import { processVariables, readConfig } from '../common/config.ts';
import { createLifecycle, type Lifecycle, type Service } from '../common/lifecycle.ts';
import { createLog, type Log } from '../common/log.ts';
import { createMetrics, lifecycleMetrics, operationsServer } from '../common/operations.ts';
import { readWorkerConfig } from '../worker/config.ts';
import { createWorker } from '../worker/worker.ts';
import { findOrInstallChrome } from './chrome.ts';
import { buildDashboard } from './dashboard.ts';
import { makeFirstAccount } from './first-account.ts';
import { takeLock } from './lock.ts';
import { type ManagedMongod, startMongod } from './mongod.ts';
import { findOrInstallMongod, type MongodBinary } from './mongod-binary.ts';
import { MONGOD_UID } from './mongod-user.ts';
import { mustBeFree } from './ports.ts';
import type { Notify } from './run-command.ts';
import { dataFolder, keepSecret, MONGOD_FOLDER, newSecret, openDataFolder } from './state.ts';
import { inOrder, together } from './together.ts';
import { welcomeService } from './welcome.ts';

export interface Standalone {
  lifecycle: Lifecycle;
  log: Log;
  /** Settles when mongod has ended unexpectedly. */
  died: Promise<string>;
}

/** Defaults for one machine; variables of the environment take precedence. */
const DEFAULTS = {
  PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
  PRESSROOM_GATEWAY_HOST: '127.0.0.1',
  // Only the API in this process connects, so any free port works.
  PRESSROOM_GATEWAY_PORT: '0',
  // There is no load balancer that must react first.
  PRESSROOM_DRAIN_DELAY: '0s',
};

/**
 * The longest stop after mongod has ended. It does not come back, so renders in flight are delivered
 * but cannot be counted.
 */
const STOP_WITHOUT_MONGOD_MS = 10_000;

function mongodService(
  binary: MongodBinary,
  dataDir: string,
  onSpawned: () => void,
  died: (why: string) => void,
) {
  let mongod: ManagedMongod;
  let lost: string | undefined;
  let stopping = false;
  const service: Service = {
    name: 'mongod',
    start: async () => {
      mongod = await startMongod({
        binary: binary.path,
        dataDir: join(dataDir, MONGOD_FOLDER),
        onSpawned,
      });
      void mongod.exited.then(how => {
        if (stopping) return;
        lost = `mongod ended unexpectedly (${how}). See its log: ${join(dataDir, MONGOD_FOLDER, 'mongod.log')}`;
        died(lost);
      });
    },
    stop: async () => {
      stopping = true;
      await mongod.stop();
      if (lost) throw new Error(lost);
    },
  };
  return { service, uri: () => mongod.uri };
}

/**
 * Called while mongod and Chrome start, since loading the API takes as much CPU as the rest of a
 * warm start. Errors are thrown where the result is used.
 */
const loadApi = () => import('../api/api.ts');

/** The configuration of all processes. Throws an Error that names the invalid variables. */
function readConfigs(environment: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const env: NodeJS.ProcessEnv = {
    ...DEFAULTS,
    // Other processes with the same MongoDB may have another secret.
    ...(given['MONGODB_URI'] === undefined && { PRESSROOM_ASYNC: 'on' }),
    ...given,
  };
  const processConfig = readConfig(processVariables, env);
  const workerConfig = readWorkerConfig(env);
  const apiConfig = readApiConfig(env);
  if (!apiConfig.mongodbUri && workerConfig.chrome.uid === MONGOD_UID)
    throw new Error(
      `PRESSROOM_CHROME_UID=${MONGOD_UID} is the user of mongod. Set another user for Chrome.`,
    );
  return { env, processConfig, workerConfig, apiConfig };
}
type Configs = ReturnType<typeof readConfigs>;

/** Throws an Error when another process holds the lock. */
async function lockDataFolder(dataDir: string) {
  const lock = await takeLock(dataDir, 'standalone');
  if (lock.held) return lock;
  lock.disconnect();
  throw new Error(
    lock.role === 'standalone'
      ? `Pressroom is already running in ${dataDir} (process ${lock.pid}). Stop it, or set PRESSROOM_DATA_DIR and PRESSROOM_PORT to run another one.`
      : `A command is using ${dataDir} (process ${lock.pid}). Try again when it has finished.`,
  );
}

async function portsMustBeFree({ apiConfig, processConfig, workerConfig }: Configs): Promise<void> {
  await mustBeFree(apiConfig.http.host, apiConfig.http.port, 'PRESSROOM_PORT');
  await mustBeFree(
    processConfig.PRESSROOM_OPERATIONS_HOST,
    processConfig.PRESSROOM_OPERATIONS_PORT,
    'PRESSROOM_OPERATIONS_PORT',
  );
  await mustBeFree(workerConfig.gateway.host, workerConfig.gateway.port, 'PRESSROOM_GATEWAY_PORT');
}

/** Finds or installs Chrome and mongod and builds the dashboard, concurrently. */
async function installParts({ env, apiConfig, workerConfig }: Configs, notify: Notify) {
  const [executable, binary] = await Promise.all([
    findOrInstallChrome(env, notify, workerConfig.chrome.uid),
    apiConfig.mongodbUri ? undefined : findOrInstallMongod(env, notify),
    apiConfig.dashboard.on ? buildDashboard(notify) : undefined,
  ]);
  return { executable, binary };
}

/**
 * Prepares everything that the user may have to fix: configuration, lock, ports, Chrome and mongod.
 * Runs downloads only. `logStream` receives the log (default: stdout). Throws an Error with a
 * message for the terminal.
 */
export async function createStandalone(
  environment: NodeJS.ProcessEnv,
  notify: Notify,
  logStream?: Parameters<typeof createLog>[2],
): Promise<Standalone> {
  const configs = readConfigs(environment);
  const { env, processConfig, workerConfig, apiConfig } = configs;
  const stopMs = processConfig.PRESSROOM_DRAIN_TIMEOUT;
  const log = createLog(processConfig.PRESSROOM_LOG_LEVEL, 'standalone', logStream);
  const dataDir = await openDataFolder(dataFolder(env));
  const lock = await lockDataFolder(dataDir);
  await portsMustBeFree(configs);
  const { executable, binary } = await installParts(configs, notify);
  const peppers =
    apiConfig.peppers.length > 0 ? apiConfig.peppers : [await keepSecret(dataDir, 'pepper')];
  const secret = apiConfig.dashboard.secret ?? (await keepSecret(dataDir, 'secret'));

  const death = Promise.withResolvers<string>();
  const loadAhead = () => void loadApi().catch(() => {});
  const mongod = binary && mongodService(binary, dataDir, loadAhead, death.resolve);
  if (!mongod) loadAhead();
  const uri = () => apiConfig.mongodbUri ?? mongod!.uri();
  const metrics = createMetrics({ labels: { pool: apiConfig.pool } });
  const poolSecret = workerConfig.secret ?? newSecret();
  // One process group for all child processes, so that Ctrl-C and `kill -9` reach all of them.
  const chrome = { ...workerConfig.chrome, executable, ownGroup: false };
  const worker = createWorker({ ...workerConfig, secret: poolSecret, chrome }, log, metrics);

  let firstKey: string | undefined;
  let setupLink: string | undefined;
  const firstAccount = async () => {
    firstKey = await makeFirstAccount(dataDir, uri(), { ...apiConfig, peppers }, log);
  };
  let api: Api;
  const apiServices = async () => {
    const { createApi } = await loadApi();
    const workers = [`ws://127.0.0.1:${worker.port()}`];
    const dashboard = { ...apiConfig.dashboard, secret };
    const config = {
      ...apiConfig,
      dashboard,
      mongodbUri: uri(),
      peppers,
      pepper: peppers[0]!,
      poolSecret,
      workers,
    };
    api = createApi(config, log, metrics, { onSetupLink: link => (setupLink = link) });
    return api.services;
  };
  const welcome = welcomeService({
    apiConfig,
    hasPublicUrl: env.PRESSROOM_PUBLIC_URL !== undefined,
    capacity: workerConfig.capacity,
    mongodVersion: binary?.version,
    port: () => api.port(),
    setupLink: () => setupLink,
    firstKey: () => firstKey,
    onReady: () => lock.ready(),
    notify,
    log,
  });
  const probes = {
    host: processConfig.PRESSROOM_OPERATIONS_HOST,
    port: processConfig.PRESSROOM_OPERATIONS_PORT,
  };
  const earlyDeadline = new AbortController();
  const lifecycle = createLifecycle(log, stopMs, [
    { name: 'data folder', start: async () => {}, stop: () => lock.release() },
    operationsServer(probes, metrics, () => lifecycle.state() === 'running'),
    together([
      inOrder('worker', log, stopMs, () => worker.services),
      ...(mongod ? [mongod.service] : []),
    ]),
    { name: 'first account', start: firstAccount, stop: async () => {} },
    inOrder('API', log, stopMs, apiServices, earlyDeadline.signal),
    welcome,
  ]);
  lifecycleMetrics(metrics, lifecycle.state);
  void death.promise.then(why => {
    notify(why);
    setTimeout(() => earlyDeadline.abort(), STOP_WITHOUT_MONGOD_MS);
  });
  // The log contains the stack; the terminal shows only the message.
  const start = () =>
    lifecycle.start().catch(error => {
      notify((error as Error).message);
      throw error;
    });
  return { lifecycle: { ...lifecycle, start }, log, died: death.promise };
}
