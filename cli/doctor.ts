// `pressroom doctor` in the API's image: checks the running installation. Changes nothing but one
// document that it deletes again.
import type { Command } from 'commander';
import { complete } from '../api/api.ts';
import { readApiConfig } from '../api/config.ts';
import { processVariables, readConfig } from '../common/config.ts';
import { RELEASE } from '../common/operations.ts';
import { COMMAND } from './command-name.ts';
import { apiProcessFacts, checkApiProcess, checkProxies } from './doctor/api-process.ts';
import { checkDatabase, databaseFacts } from './doctor/database.ts';
import { checkLine, type DoctorCheck, withoutUserInfo } from './doctor/doctor-check.ts';
import {
  checkPrometheus,
  controllerReleases,
  prometheusFacts,
} from './doctor/prometheus-series.ts';
import { checkPublicAddress, publicUrlFacts } from './doctor/public-url.ts';
import { checkReleases } from './doctor/releases.ts';
import { checkWorkers, workersFacts } from './doctor/workers.ts';
import { wrongUsage } from './failure.ts';
import type { Terminal } from './terminal.ts';

interface DoctorOptions {
  prometheus?: string;
  json?: true;
}

/** Reads the environment of an API process. Throws ConfigError when it is not complete. */
export async function checkInstallation(
  env: NodeJS.ProcessEnv,
  { prometheus = env['PRESSROOM_PROMETHEUS_URL'] || undefined }: DoctorOptions = {},
): Promise<DoctorCheck[]> {
  const config = complete(readApiConfig(env));
  const { PRESSROOM_OPERATIONS_HOST: host, PRESSROOM_OPERATIONS_PORT: port } = readConfig(
    processVariables,
    env,
  );
  const token = env['PRESSROOM_PROMETHEUS_TOKEN'] || undefined;
  const [database, workers, series, publicUrl] = await Promise.all([
    databaseFacts(config.mongodbUri),
    workersFacts(config),
    prometheusFacts(prometheus, token, config.pool),
    publicUrlFacts(config.publicUrl, Boolean(env['PRESSROOM_PUBLIC_URL'])),
  ]);
  // Afterwards, because the request to the public URL may be the first one through a proxy.
  const api = await apiProcessFacts(config, { host, port });
  const checks = [
    checkApiProcess(api),
    ...checkDatabase(database),
    ...checkWorkers(workers),
    ...checkPrometheus(series),
    ...checkPublicAddress(publicUrl, Date.now()),
    checkProxies(api),
    ...checkReleases({
      api: api.metrics?.release ?? RELEASE,
      workers: workers.workers.map(({ release }) => release),
      controllers: controllerReleases(series),
    }),
  ];
  return checks.map(check => ({ ...check, message: withoutUserInfo(check.message) }));
}

export function addDoctorCommand(program: Command, { print }: Pick<Terminal, 'print'>): void {
  program
    .command('doctor')
    .description('Check this installation: database, workers, Prometheus, public URL and releases')
    .option('--prometheus <url>', 'URL of Prometheus (default: PRESSROOM_PROMETHEUS_URL)')
    .option('--json', 'Print JSON instead of lines')
    .addHelpText(
      'after',
      `\nEach line is ok, warning or error, with the fix. The exit code is 1 when there is an error.\n\nExample:\n  ${COMMAND} doctor --prometheus http://prometheus.monitoring:9090`,
    )
    .action(async (options: DoctorOptions) => {
      const { prometheus } = options;
      if (prometheus !== undefined && !/^https?:\/\/./.test(prometheus))
        throw wrongUsage(`--prometheus must be an http(s) URL. \`${prometheus}\` is not.`);
      const checks = await checkInstallation(process.env, options);
      print(
        options.json
          ? `${JSON.stringify({ release: RELEASE, checks }, null, 2)}\n`
          : checks.map(checkLine).join(''),
      );
      if (checks.some(({ level }) => level === 'error')) process.exitCode = 1;
    });
}
