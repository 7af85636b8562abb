import { createHash } from 'node:crypto';
import type { ApiKey } from '../../config/variables.ts';
import { deriveKey, openText, sealText } from '../../sealed-text.ts';

/** Name of the cookie that holds a session. */
export const SESSION_COOKIE = 'svc_session';

/** How long a session lasts after its last use, the age from which its use renews it, and how long it lasts at most. */
export const SESSION_SECONDS: number = 12 * 60 * 60;
const RENEWAL_AGE_SECONDS = 5 * 60;
export const MAX_SESSION_SECONDS: number = 7 * 24 * 60 * 60;

/** Longer values cannot be sessions. */
const MAX_VALUE_LENGTH = 512;

/** A session that a cookie proved. */
export interface Session {
  /** Index of its key among the configured ones. */
  readonly key: number;
  readonly expiresAt: Date;
  /** When it ends although it is used. */
  readonly endsAt: Date;
  /** Whether its next response should carry a new cookie. */
  readonly isDue: boolean;
}

/** Makes and reads the values of session cookies. */
export interface Sessions {
  /**
   * Seals a session for a configured key.
   *
   * @param endsAt of the session that is renewed
   */
  seal(key: number, endsAt?: Date): { readonly value: string; readonly expiresAt: Date };
  /** The session of a cookie; null when it has ended, or when no configured key sealed it. */
  open(value: string): Session | null;
}

interface Sealed {
  readonly role: string;
  readonly fingerprint: string;
  /** Unix times in seconds. */
  readonly expires_at: number;
  readonly ends_at: number;
}

/**
 * Creates the sessions of the configured keys. A cookie holds the role and a fingerprint of its key, sealed
 * under a secret derived from that key: every instance with the key accepts it, and removing the key or changing its role
 * ends it.
 */
export function createSessions(apiKeys: readonly ApiKey[], now: () => number = Date.now): Sessions {
  const known = apiKeys.map(({ role, key }) => {
    const secret = deriveKey(key.reveal(), 'svc session v1');
    // of the derived secret: nothing in the cookie, even opened, helps to guess the key itself
    return {
      role,
      secret,
      fingerprint: createHash('sha256').update(secret).digest('base64url').slice(0, 22),
    };
  });
  const nowSeconds = (): number => Math.floor(now() / 1000);
  return {
    seal: (at, endsAt) => {
      const key = known[at];
      if (key === undefined) throw new RangeError(`Cannot seal a session: there is no key ${at}.`);
      const end =
        endsAt === undefined ? nowSeconds() + MAX_SESSION_SECONDS : Math.floor(endsAt.getTime() / 1000);
      const expiresAt = Math.min(nowSeconds() + SESSION_SECONDS, end);
      const { role, fingerprint } = key;
      const sealed: Sealed = { role, fingerprint, expires_at: expiresAt, ends_at: end };
      const value = sealText(key.secret, SESSION_COOKIE, JSON.stringify(sealed));
      return { value, expiresAt: new Date(expiresAt * 1000) };
    },
    open: (value) => {
      if (value.length > MAX_VALUE_LENGTH) return null;
      for (const [at, { role, secret, fingerprint }] of known.entries()) {
        const text = openText(secret, SESSION_COOKIE, value);
        if (text === undefined) continue;
        const sealed = JSON.parse(text) as Sealed;
        const leftSeconds = sealed.expires_at - nowSeconds();
        if (sealed.role !== role || sealed.fingerprint !== fingerprint) return null;
        // Sessions of older versions have no end.
        if (leftSeconds <= 0 || !Number.isFinite(sealed.ends_at)) return null;
        return {
          key: at,
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

/** The `Set-Cookie` header that ends the session. */
export function clearSessionCookie(isSecure: boolean): string {
  return cookie('', 0, isSecure);
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Max-Age=${maxAgeSeconds}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
