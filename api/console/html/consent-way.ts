// Which pages stand on the way to a consent: an app on the web opens that way in a window of its
// own and waits for its end. Pure.
import type { Context } from '../../http/state.ts';
import { consentPath, OAUTH_PATHS } from '../kit/oauth-paths.ts';
import { nextPath } from './next-path.ts';

/** `next`: the path after the sign-in, as `nextPath` returns it. */
export const leadsToConsent = (next: string): boolean => next.startsWith(consentPath(''));

/** By its own path, or by where it leads afterwards. */
export const isOnConsentWay = ({ path, query }: Pick<Context, 'path' | 'query'>): boolean =>
  leadsToConsent(path) ||
  path.startsWith(OAUTH_PATHS.authorization) ||
  leadsToConsent(nextPath(query['next']));
