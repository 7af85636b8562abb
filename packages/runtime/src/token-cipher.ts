import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { Secret } from './config/secret.ts';

/** Keeps the hub token of a job from its request to its end, never in the clear outside this process. */
export interface TokenCipher {
  /** What may be stored with the job in the token's place. */
  seal(jobId: string, token: string): string;
  /** The token again; undefined where it cannot be had any more (another key, another process, or forgotten). */
  open(jobId: string, sealed: string): string | undefined;
  /** The job has ended. */
  forget(jobId: string): void;
}

const VERSION = 'v1';
const MEMORY = 'memory';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * A vault whose sealed tokens any process with the same key can open: AES-256-GCM (NIST SP 800-38D) under a key
 * derived from the deployment's secret by HKDF (RFC 5869), bound to the job's id.
 */
export function createKeyVault(secret: Secret): TokenCipher {
  const key = Buffer.from(hkdfSync('sha256', secret.reveal(), '', 'svc hub token v1', 32));
  return {
    seal: (jobId, token) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(jobId));
      const text = Buffer.concat([cipher.update(token, 'utf8'), cipher.final()]);
      return `${VERSION}.${Buffer.concat([iv, text, cipher.getAuthTag()]).toString('base64url')}`;
    },
    open: (jobId, sealed) => {
      const [version, body] = sealed.split('.');
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
    forget: () => {},
  };
}

/** A vault that keeps tokens in the memory of this process: for the standalone service without a key. */
export function createMemoryVault(): TokenCipher {
  const tokens = new Map<string, string>();
  return {
    seal: (jobId, token) => {
      tokens.set(jobId, token);
      return MEMORY;
    },
    open: (jobId, sealed) => (sealed === MEMORY ? tokens.get(jobId) : undefined),
    forget: (jobId) => void tokens.delete(jobId),
  };
}
