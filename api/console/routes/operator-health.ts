// The health of the installation, for operators: looks at the database, the reports of the
// processes and the configuration, and asks the checks.
import type { Network } from '../../../common/addresses.ts';
import type { Context } from '../../http/state.ts';
import type { ProcessDocument, Store } from '../../store/store.ts';
import { health } from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import {
  configurationChecks,
  databaseChecks,
  healthStatusOf,
  poolChecks,
} from '../reports/health-checks.ts';

interface Deps {
  store: Store;
  publicUrl: string;
  trustedProxies: readonly Network[];
}

/** The driver's sentences name hosts and ports, which operators know. */
const asProblem = (error: Error) => ({
  error: `${error.message.slice(0, 300).replace(/\.$/, '')}.`,
});

export const operatorHealthRoutes = ({
  store,
  publicUrl,
  trustedProxies,
}: Deps): ConsoleRoute[] => {
  const reports = (): Promise<ProcessDocument[]> =>
    store.limited(
      store.console.processes
        .find({ expires: { $gt: new Date() } }, { limit: 200, ...store.limits })
        .toArray(),
    );

  const surroundings = (ctx: Context) => ({
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
        'Checks of the database, the workers, the queues and the configuration, each with a hint where something is to be done.',
      access: 'operator',
      answer: health,
      handle: async ({ ctx }) => {
        const [database, processes] = await Promise.all([
          store.serverState().catch(asProblem),
          reports().catch(() => []),
        ]);
        const checks = [
          ...databaseChecks(database),
          ...poolChecks(processes),
          ...configurationChecks(surroundings(ctx)),
        ];
        return { status: healthStatusOf(checks), checks };
      },
    }),
  ];
};
