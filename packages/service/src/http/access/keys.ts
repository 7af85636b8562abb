import { createHash, randomBytes } from 'node:crypto';
import { type ApiKey, checkKeys, digestOf, readKeysFile, stampOf } from '../../config/api-keys.ts';
import { type Config, ConfigError } from '../../config/load-config.ts';
import { deriveKey, openText, sealText } from '../../secrets/secret.ts';
import type { Logger } from '../../telemetry/create-logger.ts';

export type Keys = ReturnType<typeof openKeys>;

/** How often the file is looked at, at most. */
const LOOK_MS = 1_000;

/** Opens the keys of the configuration. If the file becomes unreadable or wrong, its last keys stay in force. */
export function openKeys(
  { apiKeys, apiKeysFile, jobKey }: Pick<Config, 'apiKeys' | 'apiKeysFile' | 'jobKey'>,
  logger: Logger,
  now: () => number = () => performance.now(),
) {
  let stamp = apiKeysFile?.stamp;
  let lookedAt = now();
  let keys: readonly ApiKey[];
  try {
    keys = checkKeys([...apiKeys, ...(apiKeysFile?.keys ?? [])]);
  } catch (error) {
    throw new ConfigError([`SVC_API_KEYS with SVC_API_KEYS_FILE ${(error as Error).message}`]);
  }

  function readAgain(path: string): void {
    let found: string | undefined;
    try {
      found = stampOf(path);
      if (found === stamp) return;
      const file = readKeysFile(path);
      keys = checkKeys([...apiKeys, ...file.keys]);
      logger.log('keys.read', { keys: keys.length });
    } catch (error) {
      // Logged once for each content.
      if (found === stamp) return;
      logger.log('keys.fail', {
        error: new Error(`Cannot read SVC_API_KEYS_FILE again: it ${(error as Error).message}.`),
      });
    }
    stamp = found;
  }

  const current = (): readonly ApiKey[] => {
    if (apiKeysFile !== null && now() - lookedAt >= LOOK_MS) {
      lookedAt = now();
      readAgain(apiKeysFile.path);
    }
    return keys;
  };
  return {
    /** Whether there are none, so that every caller can do everything. */
    isOpen: apiKeys.length === 0 && apiKeysFile === null,
    /** The keys in force: the same array until their file changes. */
    current,
    sessions: createSessions(current, jobKey?.reveal() ?? randomBytes(32).toString('hex')),
  };
}

export const SESSION_COOKIE = 'svc_session';

/** How long a session lasts after its last use, the age from which its use renews it, and how long it lasts at most. */
export const SESSION_SECONDS: number = 12 * 60 * 60;
const RENEWAL_AGE_SECONDS = 5 * 60;
export const MAX_SESSION_SECONDS: number = 7 * 24 * 60 * 60;

const MAX_VALUE_LENGTH = 512;

/** A session that a cookie proved. */
export interface Session {
  readonly key: string;
  readonly expiresAt: Date;
  /** When it ends although it is used. */
  readonly endsAt: Date;
  /** Whether its next response should carry a new cookie. */
  readonly isDue: boolean;
}

export type Sessions = ReturnType<typeof createSessions>;

interface Sealed {
  readonly role: string;
  readonly fingerprint: string;
  /** Unix times in seconds. */
  readonly expires_at: number;
  readonly ends_at: number;
}

/** Tells a key from others, also from its successors, and does not help to guess it. */
export const keyId = (key: Pick<ApiKey, 'key' | 'isHash'>): string =>
  digestOf(key).toString('hex').slice(0, 16);

/**
 * Creates the sessions of the configured keys. A cookie holds the role and a fingerprint of its key, sealed under a
 * secret derived from that key: every instance with the key accepts it, and removing the key or changing its role ends
 * it. For a key that is known by its hash, the secret is derived from the hash and `instanceSecret`: nobody can make a
 * session who only reads the hash.
 */
export function createSessions(
  keys: () => readonly ApiKey[],
  instanceSecret: string,
  now: () => number = Date.now,
) {
  const toKnown = (key: ApiKey) => {
    const text = key.key.reveal();
    const secret = deriveKey(key.isHash ? `${text} ${instanceSecret}` : text, 'svc session v1');
    // of the derived secret: nothing in the cookie, even opened, helps to guess the key itself
    const fingerprint = createHash('sha256').update(secret).digest('base64url').slice(0, 22);
    return { id: keyId(key), role: key.role, secret, fingerprint };
  };
  let of: readonly ApiKey[] | undefined;
  let derived: readonly ReturnType<typeof toKnown>[] = [];
  const known = (): typeof derived => {
    const current = keys();
    if (current !== of) derived = current.map(toKnown);
    of = current;
    return derived;
  };
  const nowSeconds = (): number => Math.floor(now() / 1000);
  return {
    /** Seals a session for the configured key of this id. @param endsAt of the session that is renewed */
    seal: (id: string, endsAt?: Date) => {
      const key = known().find((one) => one.id === id);
      if (key === undefined) throw new RangeError(`Cannot seal a session: there is no key ${id}.`);
      const end =
        endsAt === undefined ? nowSeconds() + MAX_SESSION_SECONDS : Math.floor(endsAt.getTime() / 1000);
      const expiresAt = Math.min(nowSeconds() + SESSION_SECONDS, end);
      const { role, fingerprint } = key;
      const sealed: Sealed = { role, fingerprint, expires_at: expiresAt, ends_at: end };
      const value = sealText(key.secret, SESSION_COOKIE, JSON.stringify(sealed));
      return { value, expiresAt: new Date(expiresAt * 1000) };
    },
    /** The session of a cookie; null when it has ended, or when no configured key sealed it. */
    open: (value: string): Session | null => {
      if (value.length > MAX_VALUE_LENGTH) return null;
      for (const { id, role, secret, fingerprint } of known()) {
        const text = openText(secret, SESSION_COOKIE, value);
        if (text === undefined) continue;
        const sealed = JSON.parse(text) as Sealed;
        const leftSeconds = sealed.expires_at - nowSeconds();
        if (sealed.role !== role || sealed.fingerprint !== fingerprint) return null;
        // Sessions of older versions have no end.
        if (leftSeconds <= 0 || !Number.isFinite(sealed.ends_at)) return null;
        return {
          key: id,
          expiresAt: new Date(sealed.expires_at * 1000),
          endsAt: new Date(sealed.ends_at * 1000),
          isDue: leftSeconds < SESSION_SECONDS - RENEWAL_AGE_SECONDS && sealed.expires_at < sealed.ends_at,
        };
      }
      return null;
    },
  };
}

/** The `Set-Cookie` header that gives a browser a session. No script can read it, and no page of another site uses it. */
export function setSessionCookie(value: string, isSecure: boolean): string {
  return cookie(value, SESSION_SECONDS, isSecure);
}

export function clearSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure);
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
