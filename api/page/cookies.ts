// Sets the cookies of a render in its own browser context, which no other render shares.
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import type { CookieSetting, RenderSettings } from './render-settings.ts';

/**
 * Pure. A cookie of one host is named by an address there, one for subdomains too by its domain. A
 * document given as html belongs to no site, so everything that it loads is of another site and
 * gets cookies with `SameSite=None` alone, which must be secure: there that is what a cookie
 * without `same_site` is taken for.
 */
export function asChromeTakes(
  { domain, sameSite, secure, ...rest }: CookieSetting,
  kind: RenderSettings['source']['kind'],
): Protocol.Network.SetCookieRequest {
  const foreign = kind === 'html' && sameSite === undefined;
  const isSecure = secure || foreign;
  const where = domain.startsWith('.')
    ? { domain }
    : { url: `${isSecure ? 'https' : 'http'}://${domain}/` };
  const site = foreign ? 'None' : sameSite;
  return { ...rest, ...where, secure: isSecure, ...(site && { sameSite: site }) };
}

/**
 * Resolves when all are set. Throws validation_error that names the first one that Chrome does not
 * take.
 */
export async function setCookies(
  session: Session,
  { cookies, source }: RenderSettings,
): Promise<void> {
  const set = async (cookie: CookieSetting) => {
    try {
      return (await session.command('Network.setCookie', asChromeTakes(cookie, source.kind)))
        .success;
    } catch (error) {
      if (error instanceof CommandFailed) return false;
      throw error;
    }
  };
  const taken = await Promise.all(cookies.map(set));
  const refused = taken.indexOf(false);
  if (refused === -1) return;
  throw invalid(
    `\`cookies.${refused}\` is a cookie that the browser does not take. Check its \`domain\`, \`path\`, \`value\` and its length of at most 4096 bytes.`,
  );
}
