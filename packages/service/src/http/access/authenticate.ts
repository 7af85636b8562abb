import { createHash, timingSafeEqual } from 'node:crypto';
import { digestOf, type Role } from '../../config/api-keys.ts';
import type { Secret } from '../../secrets/secret.ts';
import { RequestError } from '../request/request-error.ts';
import { type Keys, keyId, type Session } from './keys.ts';

const RANK: Readonly<Record<Role, number>> = { viewer: 1, editor: 2, admin: 3 };

export interface Caller {
  /** Id of the key, or `metrics`; undefined without a known key. */
  readonly key: string | undefined;
  readonly isWrong: boolean;
  readonly role: Role | null;
  /** Who it is: the name of its key, else `key` and the place of the key among all, else `anonymous`. */
  readonly name: string;
  readonly isExpired: boolean;
  /** Beginnings of the handles of the datasets that it sees; null for all datasets. */
  readonly handles: readonly string[] | null;
  readonly session?: Session;
  can(access: Access): boolean;
}

/** The caller of a request whose key was not checked. */
export const ANONYMOUS: Caller = {
  key: undefined,
  isWrong: false,
  isExpired: false,
  handles: null,
  role: null,
  name: 'anonymous',
  can: isForAnyone,
};

const UNRESTRICTED: Caller = { ...ANONYMOUS, role: 'admin', can: () => true };

export type Authenticator = ReturnType<typeof createAuthenticator>;

/**
 * Creates what identifies callers. Without configured keys every caller can do everything. Digests of keys are compared,
 * in constant time, and all of them every time.
 */
export function createAuthenticator(
  keys: Pick<Keys, 'current' | 'isOpen'>,
  metricsKey: Secret | undefined,
  now: () => number = Date.now,
) {
  const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
  const metrics = metricsKey === undefined ? undefined : sha256(metricsKey.reveal());
  const open = keys.isOpen;
  let known: ReturnType<Keys['current']> = [];
  let digests: readonly Buffer[] = [];
  /** Once for each caller: between two looks, the place of a key could become the place of another. */
  const look = (): void => {
    const current = keys.current();
    if (current !== known) digests = current.map(digestOf);
    known = current;
  };

  const callerOf = (index: number | undefined, isMetricsKey = false, isWrong = false): Caller => {
    const found = index === undefined ? undefined : known[index];
    const isExpired = found?.expiresAt != null && found.expiresAt.getTime() <= now();
    const role = isExpired ? null : (found?.role ?? (index === undefined && open ? 'admin' : null));
    const handles = found?.handles ?? null;
    const rank = role === null ? 0 : RANK[role];
    return {
      key: isMetricsKey ? 'metrics' : found && keyId(found),
      isWrong,
      isExpired,
      handles,
      role,
      name: found === undefined ? ANONYMOUS.name : (found.name ?? `key ${Number(index) + 1}`),
      can: (access) => {
        if (isForAnyone(access)) return true;
        // Without a metrics key, /metrics is as open as the rest of the service to callers who see all of it.
        if (access === 'metrics')
          return metrics === undefined
            ? rank > 0 && handles === null
            : isMetricsKey || (!open && rank > 0 && handles === null);
        if (rank === 0) return false;
        return rank >= RANK[access];
      },
    };
  };
  const byKey = (key: string | undefined): Caller => {
    const given = sha256(key ?? '');
    let index: number | undefined;
    look();
    for (const [at, digest] of digests.entries()) if (timingSafeEqual(digest, given)) index = at;
    const isMetricsKey = metrics !== undefined && key !== undefined && timingSafeEqual(metrics, given);
    return callerOf(index, isMetricsKey, key !== undefined && index === undefined && !isMetricsKey);
  };
  if (open && metrics === undefined) {
    const anybody = (): Caller => UNRESTRICTED;
    return { byHeader: anybody, byKey: anybody, bySession: anybody };
  }
  return {
    /** By an `Authorization: Bearer` header (RFC 6750). */
    byHeader: (authorization: string | undefined): Caller =>
      byKey(/^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1]),
    byKey,
    bySession: (session: Session): Caller => {
      look();
      const index = known.findIndex((key) => keyId(key) === session.key);
      return { ...callerOf(index === -1 ? undefined : index), session };
    },
  };
}

function isForAnyone(access: Access): access is 'public' | 'anyone' {
  return access === 'public' || access === 'anyone';
}

/** The error for a caller without access: 401 without a valid key, 404 for what its key does not see, else 403. */
export function forbidden(caller: Caller, access: Access): RequestError {
  if (access === 'metrics' && caller.handles !== null && !caller.isExpired) return notVisible();
  if (access !== 'metrics' && caller.can('viewer')) {
    return new RequestError('forbidden', `This needs a key with the role ${access}.`);
  }
  return unauthenticated(caller);
}

/** The error for something that belongs to no dataset that the key sees. */
export function notVisible(): RequestError {
  return new RequestError('not_found', 'There is nothing here for a key that sees some datasets only.');
}

export function unauthenticated({ isExpired }: Pick<Caller, 'isExpired'>): RequestError {
  const headers = { 'WWW-Authenticate': 'Bearer realm="svc"' };
  if (isExpired) return new RequestError('key_expired', 'The key has expired.', { headers });
  const message = 'This needs a valid key in the Authorization header (scheme Bearer).';
  return new RequestError('unauthenticated', message, { headers });
}

/**
 * Who can call a route: `public` needs no key and looks at none, `anyone` needs none but knows the caller, `metrics` needs
 * the metrics key, other routes a key or a session with that role.
 */
export type Access = 'public' | 'anyone' | 'metrics' | 'viewer' | 'editor' | 'admin';
