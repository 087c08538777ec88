// The terminal output when everything is ready: addresses, the setup link, and the first API key
// with an example request.
import type { ApiConfig } from '../api/config.ts';
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import { aboutFirstAccount } from './first-account.ts';
import { pastEndOfLife, upgradeAdvice } from './mongod-binary.ts';
import type { Notify } from './run-command.ts';

interface Welcome {
  apiConfig: Pick<ApiConfig, 'dashboard' | 'http' | 'mcp' | 'plans' | 'publicUrl'>;
  /** Whether PRESSROOM_PUBLIC_URL is set. */
  hasPublicUrl: boolean;
  /** Concurrent renders. */
  capacity: number;
  /** Version of the managed mongod, if there is one. */
  mongodVersion: string | undefined;
  /** Known once the API has started. */
  port(): number;
  setupLink(): string | undefined;
  firstKey(): string | undefined;
  onReady(): void;
  notify: Notify;
  log: Log;
}

const CURL = (url: string, key: string) =>
  `  curl -sS ${url}/v1/render -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '{"html":"<h1>Hello</h1>"}' -o render.pdf`;

export function welcomeService(welcome: Welcome): Service {
  return {
    name: 'welcome',
    start: async () => showWelcome(welcome),
    stop: async () => welcome.notify('Stopping.'),
  };
}

function showWelcome(welcome: Welcome): void {
  const { apiConfig, capacity, mongodVersion, notify, log } = welcome;
  welcome.onReady();
  const url = `http://localhost:${welcome.port()}`;
  notify(
    `Pressroom is ready at ${url} after ${(performance.now() / 1000).toFixed(1)} s (${capacity} concurrent renders). Press Ctrl-C to stop.`,
  );
  if (apiConfig.dashboard.on) showDashboard(welcome, url);
  if (mongodVersion !== undefined && pastEndOfLife(mongodVersion))
    log.debug({ version: mongodVersion }, upgradeAdvice);
  const firstKey = welcome.firstKey();
  if (firstKey)
    notify(
      `${aboutFirstAccount(apiConfig.plans, capacity)}\nAPI key (shown only once): ${firstKey}\nTry it:\n${CURL(url, firstKey)}`,
    );
}

function showDashboard({ apiConfig, hasPublicUrl, setupLink, notify }: Welcome, url: string): void {
  // With port 0 the port is known only after the start.
  const unnamed = apiConfig.http.port === 0 && !hasPublicUrl;
  const ownUrl = unnamed ? url : apiConfig.publicUrl;
  const link = setupLink();
  if (link)
    notify(`Open the dashboard: ${ownUrl}${link.slice(apiConfig.publicUrl.length)} (works once)`);
  else notify(`Dashboard: ${ownUrl}/app`);
  // Tokens are issued for the configured address, which is not known for an automatic port.
  if (apiConfig.mcp.on && !unnamed)
    notify(
      `Connect Claude Code, VS Code or Cursor: ${ownUrl}/mcp (setup steps: ${ownUrl}/app/connect)`,
    );
}
