// The numbers of the OAuth server: what became of apps, consents and tokens. Codes of single calls
// are in the numbers of HTTP.
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
    'What happened at the OAuth server: apps that registered, consents, tokens given and refused, tokens that came twice.',
    'type',
    EVENTS,
  );

/** What the library says of a code or a refresh token that has done its work. */
const REUSED = /already (used|consumed)$/;

/** Counts what the library alone sees. */
export function countTokens(provider: Provider, count: CountOAuthEvent): void {
  provider.on('registration_create.success', () => count('client_registered'));
  provider.on('grant.success', ({ oidc }: ProviderContext) =>
    count(oidc.params?.['grant_type'] === 'refresh_token' ? 'tokens_refreshed' : 'tokens_issued'),
  );
  provider.on(
    'grant.error',
    (_ctx: ProviderContext, error: Error & { error_detail?: string; statusCode?: number }) => {
      // The database is away: the app comes again.
      if (error.statusCode === 503) return;
      count(REUSED.test(error.error_detail ?? '') ? 'reuse_detected' : 'tokens_refused');
    },
  );
}
