// The text of an API key and its hash. Pure except for random numbers.
import { createHmac, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LIVE_PREFIX = 'pressroom_live_';
/** Of keys that render in sandbox mode only. As long as the other, so that all keys are. */
const TEST_PREFIX = 'pressroom_test_';
const ACCOUNT_LENGTH = 10;
/** 22 characters from an alphabet of 62: 131 random bits. */
const SECRET_LENGTH = 22;
const CHECKSUM_LENGTH = 6;
export const KEY_LENGTH = LIVE_PREFIX.length + ACCOUNT_LENGTH + SECRET_LENGTH + CHECKSUM_LENGTH;
const SHAPE = new RegExp(
  `^(?:${LIVE_PREFIX}|${TEST_PREFIX})([0-9A-Za-z]{${ACCOUNT_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);

const KEY_IN_PATH = new RegExp(`(${LIVE_PREFIX}|${TEST_PREFIX})[^/]*`, 'g');

export const NOT_A_KEY = `The Bearer token is not an API key. A key starts with \`${LIVE_PREFIX}\` or \`${TEST_PREFIX}\` and has ${KEY_LENGTH} characters. Check that you copied all of it.`;

/** `randomInt` has no modulo bias: every character is equally likely. */
export const randomBase62 = (length: number): string =>
  Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

export const createAccountId = (): string => randomBase62(ACCOUNT_LENGTH);

/** CRC-32 in base 62. Detects mistyped keys without a database read; it is not a protection. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    digits = ALPHABET[rest % ALPHABET.length] + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}

/** The common beginning of all live or all test keys of an account. */
export const keyPrefix = (accountId: string, test = false): string =>
  (test ? TEST_PREFIX : LIVE_PREFIX) + accountId;

/** A new key: its prefix + account ID + secret + checksum of everything before it. */
export function createKeyText(accountId: string, test = false): string {
  const text = `${keyPrefix(accountId, test)}${randomBase62(SECRET_LENGTH)}`;
  return text + checksum(text);
}

/**
 * The account ID in a well-formed key with a correct checksum, else undefined. Does not check that
 * the key exists.
 */
export function parseKey(text: string): string | undefined {
  if (text.length !== KEY_LENGTH) return undefined;
  const accountId = SHAPE.exec(text)?.[1];
  const body = text.slice(0, -CHECKSUM_LENGTH);
  return accountId !== undefined && checksum(body) === text.slice(-CHECKSUM_LENGTH)
    ? accountId
    : undefined;
}

export const isTestKey = (text: string): boolean => text.startsWith(TEST_PREFIX);

/** Replaces keys in the segments of a path. */
export const withoutKeys = (path: string): string =>
  path.replace(KEY_IN_PATH, (_, prefix: string) => `${prefix}…`);

/**
 * The stored form of a key: HMAC-SHA-256 with the installation's pepper. The key's entropy makes a
 * slow hash unnecessary.
 */
export const hashKey = (text: string, pepper: string): string =>
  createHmac('sha256', pepper).update(text).digest('base64url');

/**
 * The hash with each pepper, so that keys created with the former pepper still work during a
 * rotation. New keys use the first.
 */
export const hashKeyByEach = (text: string, peppers: readonly string[]): string[] =>
  peppers.map(pepper => hashKey(text, pepper));
