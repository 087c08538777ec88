// Encrypts small texts that must be read again: AES-256-GCM with a key of PRESSROOM_SECRET for each
// purpose. A text of one purpose or user cannot be decrypted for another.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Encryption {
  /** `boundTo`, such as a user's id, must be the same in `decrypt`. Base64url. */
  encrypt(text: string, boundTo?: string): string;
  /**
   * Undefined for anything that was not encrypted with this secret for this purpose and `boundTo`.
   */
  decrypt(encrypted: string, boundTo?: string): string | undefined;
}

/** 256 bits for one purpose (RFC 5869). Different purposes share nothing. */
const keyOf = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'pressroom', purpose, 32));

export function createEncryption(secret: string, purpose: string): Encryption {
  // Part of every stored text and cookie: another label could not decrypt them.
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

/** A one-way name for what must be counted and not stored, such as an address. Base64url. */
export function createDigest(secret: string, purpose: string): (...parts: string[]) => string {
  const key = keyOf(secret, `digest ${purpose}`);
  // As JSON, so that no part can end where another one begins.
  return (...parts) => createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
}
