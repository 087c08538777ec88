// The pages that may lead to a consent: a web app opens them in a window and waits until it closes.
// Pure.
import type { Context } from '../../http/state.ts';
import { consentPath, OAUTH_PATHS } from '../kit/oauth-paths.ts';
import { nextPath } from './next-path.ts';

/** `next`: the path after the sign-in, as `nextPath` returns it. */
export const leadsToConsent = (next: string): boolean => next.startsWith(consentPath(''));

/** By its own path or by its `next`. */
export const isInConsentFlow = ({ path, query }: Pick<Context, 'path' | 'query'>): boolean =>
  leadsToConsent(path) ||
  path.startsWith(OAUTH_PATHS.authorization) ||
  leadsToConsent(nextPath(query['next']));
