// Encrypts bytes with AES-256-GCM, and short texts with one key per purpose derived from
// PRESSROOM_SECRET. A text of one purpose or user cannot be decrypted for another.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/**
 * Returns nonce, tag and ciphertext. `key`: 256 bits, for at most 2^32 calls, because nonces are
 * random (NIST SP 800-38D, 8.3). `boundTo`, the additional authenticated data, must be the same in
 * `decryptBytes`.
 */
export function encryptBytes(key: Buffer, plain: Buffer, boundTo: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
  const inside = [cipher.update(plain), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...inside]);
}

/** Undefined unless `encryptBytes` returned the bytes for this key and `boundTo`. */
export function decryptBytes(key: Buffer, encrypted: Buffer, boundTo: string): Buffer | undefined {
  if (encrypted.length < OVERHEAD_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
    .setAAD(Buffer.from(boundTo))
    .setAuthTag(encrypted.subarray(NONCE_BYTES, OVERHEAD_BYTES));
  try {
    return Buffer.concat([decipher.update(encrypted.subarray(OVERHEAD_BYTES)), decipher.final()]);
  } catch {
    return undefined;
  }
}

/** A 256-bit key for one purpose (HKDF, RFC 5869). */
const keyOf = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'pressroom', purpose, 32));

export function createEncryption(secret: string, purpose: string) {
  // The label must not change: stored texts and cookies depend on it.
  const key = keyOf(secret, `seal ${purpose}`);
  return {
    /** Base64url. `boundTo`, such as a user id, must be the same in `decrypt`. */
    encrypt: (text: string, boundTo = ''): string =>
      encryptBytes(key, Buffer.from(text), boundTo).toString('base64url'),
    /** Undefined unless the text was encrypted with this secret, purpose and `boundTo`. */
    decrypt: (encrypted: string, boundTo = ''): string | undefined =>
      decryptBytes(key, Buffer.from(encrypted, 'base64url'), boundTo)?.toString('utf8'),
  };
}
export type Encryption = ReturnType<typeof createEncryption>;

/** Keyed hash for values that are counted but not stored, such as addresses. Base64url. */
export function createDigest(secret: string, purpose: string): (...parts: string[]) => string {
  const key = keyOf(secret, `digest ${purpose}`);
  // JSON keeps the boundaries between the parts.
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
