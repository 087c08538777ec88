// The text of an API key and its hash. Pure but for the random numbers; knows no database.
import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'pressroom_live_';
const ACCOUNT_LENGTH = 10;
/** 22 characters of 62 are 131 random bits. */
const SECRET_LENGTH = 22;
const CHECKSUM_LENGTH = 6;
export const KEY_LENGTH = PREFIX.length + ACCOUNT_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH;
const SHAPE = new RegExp(
  `^${PREFIX}([0-9A-Za-z]{${ACCOUNT_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);

/** `randomInt` draws again instead of folding, so that no character is likelier than another. */
export const randomBase62 = (length: number): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

export const createAccountId = (): string => randomBase62(ACCOUNT_LENGTH);

/**
 * CRC-32 in base 62: it tells a mistyped or invented key without a look into the database, and
 * protects nothing.
 */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

/** What all keys of an account begin with. */
export const keyPrefix = (accountId: string): string => PREFIX + accountId;

/**
 * The key's text, to be shown once: `pressroom_live_` + account id + secret + checksum of all
 * before it.
 */
export function createKeyText(accountId: string): string {
  const text = `${keyPrefix(accountId)}${randomBase62(SECRET_LENGTH)}`;
  return text + checksum(text);
}

/**
 * The id of the account in a key of the right shape and checksum, else undefined. Says nothing
 * about whether the key exists.
 */
export function parseKey(text: string): string | undefined {
  if (text.length !== KEY_LENGTH) return undefined;
  const accountId = SHAPE.exec(text)?.[1];
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return accountId !== undefined && checksum(body) === text.slice(-CHECKSUM_LENGTH)
    ? accountId
    : undefined;
}

/**
 * What is stored of a key: HMAC-SHA-256 with the installation's pepper. A key has enough entropy
 * that no slow hash is needed.
 */
export const hashKey = (text: string, pepper: string): string =>
  createHmac('sha256', pepper).update(text).digest('base64url');

/**
 * By each pepper: while peppers are being changed, keys made under the former one still work. New
 * keys take the first.
 */
export const hashKeyByEach = (text: string, peppers: readonly string[]): string[] =>
  peppers.map(pepper => hashKey(text, pepper));
