// Wires the dashboard: sessions, pages, the management API and the built page. Returns what the application routes and what runs beside it.
import type { Network } from '../../common/addresses.ts';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Middleware } from '../http/state.ts';
import type { Store } from '../store/store.ts';
import { consoleRoutes } from './http/console-router.ts';
import { createCookies } from './http/cookies.ts';
import { createAudit } from './people/audit.ts';
import { createSessions } from './people/sessions.ts';
import type { ConsoleRoute } from './route.ts';
import { type StaticFiles, staticFiles } from './static-files.ts';

export interface ConsoleDeps {
  publicUrl: string;
  secret: string;
  store: Store;
  budget: ByteBudget;
  trustedProxies: readonly Network[];
  log: Log;
}

export interface Console {
  routes: { method: 'get' | 'post' | 'patch' | 'delete'; path: string; handle: Middleware[] }[];
  services: Service[];
}

export function createConsole(deps: ConsoleDeps): Console {
  const { publicUrl, store, budget, trustedProxies } = deps;
  const cookies = createCookies(publicUrl);
  const sessions = createSessions(store);
  const audit = createAudit(store);
  const rows: ConsoleRoute[] = [];
  void audit;

  let files: StaticFiles;
  const toSignIn: Middleware = async (ctx, next) => {
    const token = cookies.session(ctx);
    if (token && (await sessions.find(token))) return next();
    ctx.redirect(`/app/sign-in${ctx.path === '/app' ? '' : `?next=${encodeURIComponent(ctx.path)}`}`);
  };
  const page: Middleware = ctx => files.page(ctx);

  return {
    routes: [
      { method: 'get', path: '/app/assets/{*file}', handle: [ctx => files.asset(ctx)] },
      ...consoleRoutes(rows, { publicUrl, store, sessions, cookies, budget, trustedProxies }),
      { method: 'get', path: '/app', handle: [toSignIn, page] },
      { method: 'get', path: '/app/{*path}', handle: [toSignIn, page] },
    ],
    services: [
      {
        name: 'dashboard',
        start: async () => {
          files = await staticFiles();
        },
        stop: async () => {},
      },
    ],
  };
}
