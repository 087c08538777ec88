// Tokens that let somebody in: of sessions, of the setup, of invitations, of links to PDFs. What is
// stored of one is its hash. Pure but for the random numbers.
import { createHash, randomBytes } from 'node:crypto';

const BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

/** 256 random bits as base64url: no slow hash is needed, and no pepper. */
export const createToken = (): string => randomBytes(BYTES).toString('base64url');

export const hashToken = (token: string): string =>
  createHash('sha256').update(token).digest('base64url');

/** Whether it could be one: what could not is refused without asking the database. */
export const isToken = (text: string): boolean => SHAPE.test(text);
