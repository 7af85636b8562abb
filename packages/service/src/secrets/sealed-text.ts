import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from './secret.ts';

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The key for one purpose, derived from a secret by HKDF (RFC 5869). */
export function deriveKey(secret: string | Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}

/** Seals a text with AES-256-GCM (NIST SP 800-38D). @param bound what it belongs to, which opens it too */
export function sealText(key: Uint8Array, bound: string, text: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return `${VERSION}.${sealed.toString('base64url')}`;
}

/** The text that {@link sealText} sealed; undefined for any other text, key or purpose. */
export function openText(key: Uint8Array, bound: string, sealed: string): string | undefined {
  const [version, body = ''] = sealed.split('.');
  const bytes = Buffer.from(body, 'base64url');
  if (version !== VERSION || bytes.byteLength < IV_BYTES + TAG_BYTES) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(bound))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}

/** Encrypts the hub token of a job, so that it is stored with the job but never in the clear. */
export interface TokenCipher {
  encrypt(jobId: string, token: string): string;
  /** The token; undefined when another key or another job encrypted it. */
  decrypt(jobId: string, encrypted: string): string | undefined;
}

/**
 * Creates a cipher that is bound to the id of the job. Processes with the same secret can decrypt each other's tokens.
 *
 * @param secret by default a random one: only this process can then decrypt the tokens
 */
export function createTokenCipher(secret?: Secret): TokenCipher {
  const key = deriveKey(secret?.reveal() ?? randomBytes(32), 'svc hub token v1');
  return {
    encrypt: (jobId, token) => sealText(key, jobId, token),
    decrypt: (jobId, encrypted) => openText(key, jobId, encrypted),
  };
}
