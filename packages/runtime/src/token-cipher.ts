import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from './config/secret.ts';

/** Encrypts the hub token of a job, so that it is stored with the job but never in the clear. */
export interface TokenCipher {
  encrypt(jobId: string, token: string): string;
  /** The token; undefined when another key or another job encrypted it. */
  decrypt(jobId: string, encrypted: string): string | undefined;
}

const VERSION = 'v1';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates a cipher: AES-256-GCM (NIST SP 800-38D) with a key derived from the secret by HKDF (RFC 5869), bound to the
 * id of the job. Processes with the same secret can decrypt each other's tokens.
 *
 * @param secret by default a random one: only this process can then decrypt the tokens
 */
export function createTokenCipher(secret?: Secret): TokenCipher {
  const keyMaterial = secret?.reveal() ?? randomBytes(32);
  const key = Buffer.from(hkdfSync('sha256', keyMaterial, '', 'svc hub token v1', 32));
  return {
    encrypt: (jobId, token) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(jobId));
      const text = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
      return `${VERSION}.${Buffer.concat([iv, text, cipher.getAuthTag()]).toString('base64url')}`;
    },
    decrypt: (jobId, encrypted) => {
      const [version, body] = encrypted.split('.');
      if (version !== VERSION || body === undefined) return undefined;
      const bytes = Buffer.from(body, 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
          .setAAD(Buffer.from(jobId))
          .setAuthTag(bytes.subarray(-TAG_BYTES));
        return (
          decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
        );
      } catch {
        return undefined;
      }
    },
  };
}
