// Everything on one machine: Chrome, mongod, worker and API, wired for `npm start`. Owns the order, the data folder and what the person is told.
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
import { aboutFirstAccount, makeFirstAccount } from './first-account.ts';
import { takeLock } from './lock.ts';
import {
  findOrInstallMongod,
  type ManagedMongod,
  MONGOD_UID,
  type MongodBinary,
  pastEndOfLife,
  startMongod,
  upgradeAdvice,
} from './mongod.ts';
import { mustBeFree } from './ports.ts';
import type { Say } from './run-command.ts';
import { dataFolder, keepSecret, MONGOD_FOLDER, newSecret, openDataFolder } from './state.ts';
import { inOrder, together } from './together.ts';

export interface Standalone {
  lifecycle: Lifecycle;
  log: Log;
  /** Settles when something died without which nothing goes on. */
  died: Promise<string>;
}

/** What one machine wants differently from a cluster; a variable that the person has set wins. */
const DEFAULTS = {
  PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
  PRESSROOM_GATEWAY_HOST: '127.0.0.1',
  // Nobody but our own API connects: any free port will do.
  PRESSROOM_GATEWAY_PORT: '0',
  // No load balancer has to notice.
  PRESSROOM_DRAIN_DELAY: '0s',
  // The terminal is for a person; who wants the log says so.
  PRESSROOM_LOG_LEVEL: 'warn',
};

function managed(binary: MongodBinary, dataDir: string, onSpawned: () => void, died: (why: string) => void) {
  let mongod: ManagedMongod;
  let lost: string | undefined;
  let stopping = false;
  const service: Service = {
    name: 'mongod',
    start: async () => {
      mongod = await startMongod({ binary: binary.path, dataDir: join(dataDir, MONGOD_FOLDER), onSpawned });
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

/** Called as early as mongod and Chrome have something to do: loading it takes as much CPU as all else of a warm start. Who needs it meets a failure. */
const loadApi = () => import('../api/api.ts');

const CURL = (url: string, key: string) =>
  `  curl -sS ${url}/v1/render -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '{"html":"<h1>Hello</h1>"}' -o render.pdf`;

/**
 * Prepares all that can fail for a reason a person can mend: configuration, lock, ports, Chrome, mongod. Starts nothing yet but downloads.
 * Throws an Error whose message is for the terminal.
 */
export async function createStandalone(environment: NodeJS.ProcessEnv, say: Say): Promise<Standalone> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const env: NodeJS.ProcessEnv = { ...DEFAULTS, ...given };
  const processConfig = readConfig(processVariables, env);
  const workerConfig = readWorkerConfig(env);
  const apiConfig = readApiConfig(env);
  if (!apiConfig.mongodbUri && workerConfig.chrome.uid === MONGOD_UID)
    throw new Error(`PRESSROOM_CHROME_UID=${MONGOD_UID} is the user that mongod runs as: choose another one for Chrome.`);
  const stopMs = processConfig.PRESSROOM_DRAIN_TIMEOUT;
  const log = createLog(processConfig.PRESSROOM_LOG_LEVEL, 'standalone');

  const dataDir = await openDataFolder(dataFolder(env));
  const lock = await takeLock(dataDir, 'standalone');
  if (!lock.held) {
    lock.leave();
    throw new Error(
      lock.role === 'standalone'
        ? `Pressroom runs already on ${dataDir} (process ${lock.pid}). End that, or set PRESSROOM_DATA_DIR and PRESSROOM_PORT to run another one.`
        : `A command works on ${dataDir} (process ${lock.pid}). Start again when it is done.`,
    );
  }
  await mustBeFree(apiConfig.http.host, apiConfig.http.port, 'PRESSROOM_PORT');
  await mustBeFree(processConfig.PRESSROOM_OPERATIONS_HOST, processConfig.PRESSROOM_OPERATIONS_PORT, 'PRESSROOM_OPERATIONS_PORT');
  await mustBeFree(workerConfig.gateway.host, workerConfig.gateway.port, 'PRESSROOM_GATEWAY_PORT');

  const [executable, binary] = await Promise.all([
    findOrInstallChrome(env, say, workerConfig.chrome.uid),
    apiConfig.mongodbUri ? undefined : findOrInstallMongod(env, say),
    apiConfig.dashboard.on ? buildDashboard(say) : undefined,
  ]);
  const peppers = apiConfig.peppers.length > 0 ? apiConfig.peppers : [await keepSecret(dataDir, 'pepper')];
  const secret = apiConfig.dashboard.secret ?? (await keepSecret(dataDir, 'secret'));

  const death = Promise.withResolvers<string>();
  const loadAhead = () => void loadApi().catch(() => {});
  const mongod = binary && managed(binary, dataDir, loadAhead, death.resolve);
  if (!mongod) loadAhead();
  const metrics = createMetrics({ labels: { pool: apiConfig.pool } });
  const poolSecret = workerConfig.secret ?? newSecret();
  // All that is started here is one process group, which a terminal's Ctrl-C and `kill -9` reach as a whole.
  const chrome = { ...workerConfig.chrome, executable, ownGroup: false };
  const worker = createWorker({ ...workerConfig, secret: poolSecret, chrome }, log, metrics);
  const uri = () => apiConfig.mongodbUri ?? mongod!.uri();

  let firstKey: string | undefined;
  let setupLink: string | undefined;
  const firstAccount: Service = {
    name: 'first account',
    start: async () => {
      firstKey = await makeFirstAccount(dataDir, uri(), { ...apiConfig, peppers }, log);
    },
    stop: async () => {},
  };
  let api: Api;
  const apiServices = async () => {
    const { createApi } = await loadApi();
    const workers = [`ws://127.0.0.1:${worker.port()}`];
    const dashboard = { ...apiConfig.dashboard, secret };
    const config = { ...apiConfig, dashboard, mongodbUri: uri(), peppers, pepper: peppers[0]!, poolSecret, workers };
    api = createApi(config, log, metrics, { onSetupLink: link => (setupLink = link) });
    return api.services;
  };
  const welcome: Service = {
    name: 'welcome',
    start: async () => {
      lock.ready();
      const url = `http://localhost:${api.port()}`;
      say(
        `Pressroom is ready at ${url} after ${(performance.now() / 1000).toFixed(1)} s, with ${workerConfig.capacity} renders at once. Ctrl-C ends it.`,
      );
      if (apiConfig.dashboard.on) {
        // With port 0 only now is it known which one it became.
        const unnamed = apiConfig.http.port === 0 && env.PRESSROOM_PUBLIC_URL === undefined;
        const ownUrl = unnamed ? url : apiConfig.publicUrl;
        if (setupLink) say(`Open the dashboard: ${ownUrl}${setupLink.slice(apiConfig.publicUrl.length)} (works once)`);
        else say(`The dashboard: ${ownUrl}/app`);
        // Tokens are for the configured address: an app cannot connect to one that is found out so late.
        if (apiConfig.mcp.on && !unnamed)
          say(`For Claude Code, VS Code, Cursor and others: ${ownUrl}/mcp (the dashboard's Connect says how)`);
      }
      if (binary && pastEndOfLife(binary.version)) log.info({ version: binary.version }, upgradeAdvice);
      if (firstKey)
        say(
          `${aboutFirstAccount(apiConfig.plans, workerConfig.capacity)}\nIts key, shown this once: ${firstKey}\nTry it:\n${CURL(url, firstKey)}`,
        );
    },
    stop: async () => say('Stopping.'),
  };
  const probes = { host: processConfig.PRESSROOM_OPERATIONS_HOST, port: processConfig.PRESSROOM_OPERATIONS_PORT };
  const lifecycle = createLifecycle(log, stopMs, [
    { name: 'data folder', start: async () => {}, stop: () => lock.release() },
    operationsServer(probes, metrics, () => lifecycle.state() === 'running'),
    together([inOrder('worker', log, stopMs, () => worker.services), ...(mongod ? [mongod.service] : [])]),
    firstAccount,
    inOrder('API', log, stopMs, apiServices),
    welcome,
  ]);
  lifecycleMetrics(metrics, lifecycle.state);
  void death.promise.then(say);
  // The log has the stack; the person gets the sentence.
  const start = () =>
    lifecycle.start().catch(error => {
      say((error as Error).message);
      throw error;
    });
  return { lifecycle: { ...lifecycle, start }, log, died: death.promise };
}
