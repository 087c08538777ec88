// The rotation of refresh tokens: each token has one fixed successor, so that a lost response can
// be repeated.
import { createDigest } from '../../../common/encryption.ts';

/** For this long a repeated or parallel refresh returns the same token. */
export const REPEAT_MS = 60_000;

export interface RefreshTokens {
  /** The token of a consent after this many rotations: 256 bits derived from the secret. */
  idOf(grantId: string, rotations: number): string;
}

export function createRefreshTokens(secret: string): RefreshTokens {
  const digest = createDigest(secret, 'refresh tokens');
  return { idOf: (grantId, rotations) => digest(grantId, String(rotations)) };
}

/**
 * Whether a used refresh token gets a successor. A successor younger than two minutes does not: of
 * parallel calls of an app, one may use it while another still sends its predecessor, and both must
 * end with the same token. `iat` is in seconds.
 */
export const isDue = (
  { rotations = 0, iat }: { rotations?: number; iat: number },
  nowMs: number,
): boolean => rotations === 0 || nowMs - iat * 1_000 >= 2 * REPEAT_MS;
