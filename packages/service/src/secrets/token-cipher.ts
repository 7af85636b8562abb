import { randomBytes } from 'node:crypto';
import { deriveKey, openText, sealText } from './sealed-text.ts';
import type { Secret } from './secret.ts';

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
