// The operators' route for the health of the installation: runs the checks on the database, the
// heartbeats of the processes and the configuration.
import type { Network } from '../../../common/addresses.ts';
import type { Context } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import { health } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import {
  configurationChecks,
  databaseChecks,
  healthStatusOf,
  poolChecks,
} from '../reports/health-checks.ts';
import { runningProcesses } from '../reports/heartbeat.ts';

interface Deps {
  store: Store;
  publicUrl: string;
  trustedProxies: readonly Network[];
}

/** The driver's messages contain hosts and ports, which operators may see. */
const asProblem = (error: Error) => ({
  error: `${error.message.slice(0, 300).replace(/\.$/, '')}.`,
});

export const operatorHealthRoutes = ({
  store,
  publicUrl,
  trustedProxies,
}: Deps): ConsoleRoute[] => {
  const configuration = (ctx: Context) => ({
    publicUrl,
    trustedProxies: trustedProxies.length,
    forwardedFor: ctx.get('X-Forwarded-For') !== '',
    host: ctx.get('Host'),
  });

  return [
    route({
      method: 'get',
      path: '/operator/health',
      id: 'getHealth',
      summary:
        'Check the database, the workers, the queues and the configuration. Failed checks include a hint.',
      access: 'operator',
      answer: health,
      handle: async ({ ctx }) => {
        const [database, processes] = await Promise.all([
          store.serverState().catch(asProblem),
          runningProcesses(store, new Date()).catch(() => []),
        ]);
        const checks = [
          ...databaseChecks(database),
          ...poolChecks(processes),
          ...configurationChecks(configuration(ctx)),
        ];
        return { status: healthStatusOf(checks), checks };
      },
    }),
  ];
};
