import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/** A value that does not print: only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. Call it only to send or compare the value. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const SUFFIX = '_FILE';
/** Longer than any list of keys. */
const MAX_BYTES = 64 * 1024;

/**
 * Takes secrets from files, as Docker and Kubernetes hand them out: `NAME_FILE` names a file whose text is the value of `NAME`.
 *
 * @param isSecret whether a variable holds a secret; others have no such file
 * @returns the environment with the values in place of the names, and one sentence per file that cannot be used
 */
export function readSecretFiles(
  env: Environment,
  isSecret: (name: string) => boolean,
): { readonly env: Environment; readonly problems: readonly string[] } {
  const values: Record<string, string | undefined> = { ...env };
  const problems: string[] = [];
  for (const [fileName, stated] of Object.entries(env)) {
    const name = fileName.slice(0, -SUFFIX.length);
    if (!fileName.endsWith(SUFFIX) || !isSecret(name)) continue;
    delete values[fileName];
    const path = stated?.trim() ?? '';
    if (path === '') continue;
    if ((env[name]?.trim() ?? '') !== '') problems.push(`${fileName} and ${name} are both set: remove one`);
    try {
      values[name] = readValue(path);
    } catch (error) {
      problems.push(`${fileName} ${(error as Error).message}`);
    }
  }
  return { env: values, problems };
}

function readValue(path: string): string {
  let text: string;
  try {
    const { size } = statSync(path);
    if (size > MAX_BYTES) throw new Error(`it has more than ${MAX_BYTES} bytes`);
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new Error(`cannot be read: ${(error as Error).message}`);
  }
  if (text === '') throw new Error(`names an empty file, ${path}`);
  return text;
}

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

export type TokenCipher = ReturnType<typeof createTokenCipher>;

/**
 * Creates a cipher for hub tokens, which are stored with their jobs but never in the clear, each bound to its job. Processes
 * with the same secret can decrypt each other's tokens.
 *
 * @param secret by default a random one: only this process can then decrypt the tokens
 */
export function createTokenCipher(secret?: Secret) {
  const key = deriveKey(secret?.reveal() ?? randomBytes(32), 'svc hub token v1');
  return {
    encrypt: (jobId: string, token: string) => sealText(key, jobId, token),
    /** The token; undefined when another key or another job encrypted it. */
    decrypt: (jobId: string, encrypted: string) => openText(key, jobId, encrypted),
  };
}
