// Bearer tokens: of sessions, of the setup, of invitations, of links to PDFs. Only their hashes are
// stored. Pure except for the random numbers.
import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

/** 256 random bits as base64url, which need neither a slow hash nor a pepper. */
export const createToken = (): string => randomBytes(BYTES).toString('base64url');

export const hashToken = (token: string): string =>
  createHash('sha256').update(token).digest('base64url');

/** Whether the text has the shape of a token; others are rejected without a database query. */
export const isToken = (text: string): boolean => SHAPE.test(text);
