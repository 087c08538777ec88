// Metrics of the OAuth server: events of apps, consents and tokens. The HTTP metrics have the error
// codes of its calls.
import type { Provider, ProviderContext } from 'oidc-provider';
import type { Metrics } from '../../../common/operations.ts';

const EVENTS = [
  'client_registered',
  'document_unreadable',
  'consent_allowed',
  'consent_denied',
  'tokens_issued',
  'tokens_refreshed',
  'tokens_repeated',
  'tokens_refused',
  'reuse_detected',
  'consent_ended',
] as const;
export type OAuthEvent = (typeof EVENTS)[number];
export type CountOAuthEvent = (event: OAuthEvent) => void;

export const oauthMetrics = (metrics: Metrics): CountOAuthEvent =>
  metrics.counterBy(
    'pressroom_oauth_events_total',
    'Total events of the OAuth server by type.',
    'type',
    EVENTS,
  );

/** The library's error for a code or refresh token that was used before. */
const REUSED = /already (used|consumed)$/;

/** Counts events inside the library. */
export function countTokens(provider: Provider, count: CountOAuthEvent): void {
  provider.on('registration_create.success', () => count('client_registered'));
  provider.on('grant.success', ({ oidc }: ProviderContext) =>
    count(oidc.params?.['grant_type'] === 'refresh_token' ? 'tokens_refreshed' : 'tokens_issued'),
  );
  provider.on(
    'grant.error',
    (_ctx: ProviderContext, error: Error & { error_detail?: string; statusCode?: number }) => {
      // The database is unavailable, and the app retries.
      if (error.statusCode === 503) return;
      count(REUSED.test(error.error_detail ?? '') ? 'reuse_detected' : 'tokens_refused');
    },
  );
}
