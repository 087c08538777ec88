// Everything on one machine: Chrome, mongod, worker and API, wired for `npm start`. Owns the order,
// and the data folder.
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
import {
  findOrInstallMongod,
  type ManagedMongod,
  MONGOD_UID,
  type MongodBinary,
  startMongod,
} from './mongod.ts';
import { mustBeFree } from './ports.ts';
import type { Notify } from './run-command.ts';
import { dataFolder, keepSecret, MONGOD_FOLDER, newSecret, openDataFolder } from './state.ts';
import { inOrder, together } from './together.ts';
import { welcomeService } from './welcome.ts';

export interface Standalone {
  lifecycle: Lifecycle;
  log: Log;
  /** Settles when mongod has died, without which nothing works. */
  died: Promise<string>;
}

/** What one machine wants differently from a cluster; a variable that the person has set wins. */
const DEFAULTS = {
  PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
  PRESSROOM_GATEWAY_HOST: '127.0.0.1',
  // Only our own API connects: any free port will do.
  PRESSROOM_GATEWAY_PORT: '0',
  // No load balancer has to notice.
  PRESSROOM_DRAIN_DELAY: '0s',
  // The terminal is for a person; the log can be switched on.
  PRESSROOM_LOG_LEVEL: 'warn',
};

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
        lost = `mongod ended by itself (${how}); its log: ${join(dataDir, MONGOD_FOLDER, 'mongod.log')}`;
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
 * Called as early as mongod and Chrome have something to do: loading it takes as much CPU as all
 * else of a warm start. A failure is thrown where it is used.
 */
const loadApi = () => import('../api/api.ts');

/** The configuration of all processes. Throws an Error that names what is wrong in it. */
function readConfigs(environment: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const env: NodeJS.ProcessEnv = { ...DEFAULTS, ...given };
  const processConfig = readConfig(processVariables, env);
  const workerConfig = readWorkerConfig(env);
  const apiConfig = readApiConfig(env);
  if (!apiConfig.mongodbUri && workerConfig.chrome.uid === MONGOD_UID)
    throw new Error(
      `PRESSROOM_CHROME_UID=${MONGOD_UID} is the user that mongod runs as: choose another one for Chrome.`,
    );
  return { env, processConfig, workerConfig, apiConfig };
}
type Configs = ReturnType<typeof readConfigs>;

/** Throws an Error when another process holds the lock. */
async function lockDataFolder(dataDir: string) {
  const lock = await takeLock(dataDir, 'standalone');
  if (lock.held) return lock;
  lock.leave();
  throw new Error(
    lock.role === 'standalone'
      ? `Pressroom runs already on ${dataDir} (process ${lock.pid}). End that, or set PRESSROOM_DATA_DIR and PRESSROOM_PORT to run another one.`
      : `A command works on ${dataDir} (process ${lock.pid}). Start again when it is done.`,
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

/** Finds or makes at the same time what takes long: Chrome, mongod and the dashboard. */
async function installParts({ env, apiConfig, workerConfig }: Configs, notify: Notify) {
  const [executable, binary] = await Promise.all([
    findOrInstallChrome(env, notify, workerConfig.chrome.uid),
    apiConfig.mongodbUri ? undefined : findOrInstallMongod(env, notify),
    apiConfig.dashboard.on ? buildDashboard(notify) : undefined,
  ]);
  return { executable, binary };
}

/**
 * Prepares all that can fail for a reason a person can fix: configuration, lock, ports, Chrome,
 * mongod. Starts nothing yet but downloads. Throws an Error whose message is for the terminal.
 */
export async function createStandalone(
  environment: NodeJS.ProcessEnv,
  notify: Notify,
): Promise<Standalone> {
  const configs = readConfigs(environment);
  const { env, processConfig, workerConfig, apiConfig } = configs;
  const stopMs = processConfig.PRESSROOM_DRAIN_TIMEOUT;
  const log = createLog(processConfig.PRESSROOM_LOG_LEVEL, 'standalone');
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
  // All that is started here is one process group, which a terminal's Ctrl-C and `kill -9` reach as
  // a whole.
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
  const lifecycle = createLifecycle(log, stopMs, [
    { name: 'data folder', start: async () => {}, stop: () => lock.release() },
    operationsServer(probes, metrics, () => lifecycle.state() === 'running'),
    together([
      inOrder('worker', log, stopMs, () => worker.services),
      ...(mongod ? [mongod.service] : []),
    ]),
    { name: 'first account', start: firstAccount, stop: async () => {} },
    inOrder('API', log, stopMs, apiServices),
    welcome,
  ]);
  lifecycleMetrics(metrics, lifecycle.state);
  void death.promise.then(notify);
  // The log has the stack; the terminal shows the sentence.
  const start = () =>
    lifecycle.start().catch(error => {
      notify((error as Error).message);
      throw error;
    });
  return { lifecycle: { ...lifecycle, start }, log, died: death.promise };
}
