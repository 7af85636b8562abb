import { createHash, timingSafeEqual } from 'node:crypto';
import type { Secret } from '../../config/secret.ts';
import type { ApiKey, Role } from '../../config/variables.ts';
import { RequestError } from '../request/request-error.ts';
import type { Access } from './access.ts';
import type { Session } from './sessions.ts';

/** Each role includes those before it. */
const RANK: Readonly<Record<Role, number>> = { viewer: 1, editor: 2, admin: 3 };

/** What the key or the session of a request allows. */
export interface Caller {
  /** Index of the key among the configured ones, or `metrics`; undefined without a valid key. */
  readonly key: string | undefined;
  /** Whether the request has a key that is not valid. */
  readonly isWrong: boolean;
  /** Its role; null without one. */
  readonly role: Role | null;
  /** Who it is: the name of its key, else `key` and the place of the key among all, else `anonymous`. */
  readonly name: string;
  /** The session that its cookie proved. */
  readonly session?: Session;
  can(access: Access): boolean;
}

/** The caller of a request whose key was not checked. */
export const ANONYMOUS: Caller = {
  key: undefined,
  isWrong: false,
  role: null,
  name: 'anonymous',
  can: isForAnyone,
};

/** The caller where no keys are configured. */
const UNRESTRICTED: Caller = { ...ANONYMOUS, role: 'admin', can: () => true };

/** Identifies callers. */
export interface Authenticator {
  /** By an `Authorization: Bearer` header (RFC 6750). */
  byHeader(authorization: string | undefined): Caller;
  /** By a key itself. */
  byKey(key: string): Caller;
  /** By a session that a cookie proved. */
  bySession(session: Session): Caller;
}

/**
 * Creates what identifies callers. Without configured keys every caller can do everything. Digests of keys are compared,
 * in constant time, and all of them every time.
 */
export function createAuthenticator(
  apiKeys: readonly ApiKey[],
  metricsKey: Secret | undefined,
): Authenticator {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const known = apiKeys.map(({ role, key, name }, index) => {
    return { role, digest: digest(key.reveal()), name: name ?? `key ${index + 1}` };
  });
  const metrics = metricsKey === undefined ? undefined : digest(metricsKey.reveal());
  const open = known.length === 0;

  const callerOf = (index: number | undefined, isMetricsKey = false, isWrong = false): Caller => {
    const found = index === undefined ? undefined : known[index];
    const role = found?.role ?? (index === undefined && open ? 'admin' : null);
    const rank = role === null ? 0 : RANK[role];
    return {
      key: isMetricsKey ? 'metrics' : index?.toString(),
      isWrong,
      role,
      name: found?.name ?? ANONYMOUS.name,
      can: (access) => {
        if (isForAnyone(access)) return true;
        // Without a metrics key, /metrics is as open as the rest of the service.
        if (access === 'metrics')
          return metrics === undefined ? rank > 0 : isMetricsKey || (!open && rank > 0);
        if (rank === 0) return false;
        return rank >= RANK[access];
      },
    };
  };
  const byKey = (key: string | undefined): Caller => {
    const given = digest(key ?? '');
    let index: number | undefined;
    for (const [at, one] of known.entries()) if (timingSafeEqual(one.digest, given)) index = at;
    const isMetricsKey = metrics !== undefined && key !== undefined && timingSafeEqual(metrics, given);
    return callerOf(index, isMetricsKey, key !== undefined && index === undefined && !isMetricsKey);
  };
  if (open && metrics === undefined) {
    return { byHeader: () => UNRESTRICTED, byKey: () => UNRESTRICTED, bySession: () => UNRESTRICTED };
  }
  return {
    byHeader: (authorization) => byKey(/^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1]),
    byKey,
    bySession: (session) => ({ ...callerOf(session.key), session }),
  };
}

function isForAnyone(access: Access): access is 'public' | 'anyone' {
  return access === 'public' || access === 'anyone';
}

/** The error for a caller without the access that it needs: 401 without a valid key, else 403. */
export function forbidden(caller: Caller, access: Access): RequestError {
  if (access !== 'metrics' && caller.can('viewer')) {
    return new RequestError('forbidden', `This needs a key with the role ${access}.`);
  }
  return unauthenticated();
}

/** The error for a caller without a valid key. */
export function unauthenticated(): RequestError {
  return new RequestError(
    'unauthenticated',
    'This needs a valid key in the Authorization header (scheme Bearer).',
    { headers: { 'WWW-Authenticate': 'Bearer realm="svc"' } },
  );
}
