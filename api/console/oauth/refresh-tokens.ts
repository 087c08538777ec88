// How refresh tokens follow one another: each has one successor, always the same, so that an answer
// which got lost can be given again.
import { createDigest } from '../security/encryption.ts';

/**
 * An app whose answer got lost, or which sends two requests at once, gets the same answer for so
 * long.
 */
export const REPEAT_MS = 60_000;

export interface RefreshTokens {
  /**
   * The token of a consent after so many rotations. 256 bits that nobody knows without the secret.
   */
  idOf(grantId: string, rotations: number): string;
}

export function createRefreshTokens(secret: string): RefreshTokens {
  const digest = createDigest(secret, 'refresh tokens');
  return { idOf: (grantId, rotations) => digest(grantId, String(rotations)) };
}

/**
 * Whether a refresh token that is used gets a successor. Not one that is a successor itself and
 * still young: programs whose calls run side by side refresh side by side, and one has the
 * successor already while another still sends the token before. While that is answered, what it is
 * answered with stays the last one, so that all of them end with the same. `iat` is in seconds.
 */
export const isDue = (
  { rotations = 0, iat }: { rotations?: number; iat: number },
  nowMs: number,
): boolean => rotations === 0 || nowMs - iat * 1_000 >= 2 * REPEAT_MS;
