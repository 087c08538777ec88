// Encrypts short texts with AES-256-GCM, with one key per purpose derived from PRESSROOM_SECRET. A
// text of one purpose or user cannot be decrypted for another.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Encryption {
  /** Base64url. `boundTo`, such as a user id, must be the same in `decrypt`. */
  encrypt(text: string, boundTo?: string): string;
  /** Undefined unless the text was encrypted with this secret, purpose and `boundTo`. */
  decrypt(encrypted: string, boundTo?: string): string | undefined;
}

/** A 256-bit key for one purpose (HKDF, RFC 5869). */
const keyOf = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'pressroom', purpose, 32));

export function createEncryption(secret: string, purpose: string): Encryption {
  // The label must not change: stored texts and cookies depend on it.
  const key = keyOf(secret, `seal ${purpose}`);
  return {
    encrypt: (text, boundTo = '') => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(boundTo));
      const inside = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), inside]).toString('base64url');
    },
    decrypt: (encrypted, boundTo = '') => {
      const bytes = Buffer.from(encrypted, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(Buffer.from(boundTo))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([
          decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
          decipher.final(),
        ]).toString('utf8');
      } catch {
        return undefined;
      }
    },
  };
}

/** Keyed hash for values that are counted but not stored, such as addresses. Base64url. */
export function createDigest(secret: string, purpose: string): (...parts: string[]) => string {
  const key = keyOf(secret, `digest ${purpose}`);
  // JSON keeps the boundaries between the parts.
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
