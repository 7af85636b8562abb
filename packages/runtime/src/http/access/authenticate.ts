import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../../config/load-config.ts';
import type { Secret } from '../../config/secret.ts';
import { RequestError } from '../request/request-error.ts';
import type { Access } from '../request/route.ts';

const RANK = { viewer: 1, editor: 2, admin: 3 } as const;

/** What the key of a request allows. */
export interface Caller {
  /** the place of the key among those that are configured; undefined without a valid one */
  readonly key: string | undefined;
  /** whether a key was sent that is none of ours */
  readonly isWrong: boolean;
  may(access: Access): boolean;
}

/** The caller of a request whose key nobody has looked at. */
export const ANONYMOUS: Caller = { key: undefined, isWrong: false, may: (access) => access === 'public' };

/** The caller where no keys are configured. */
const UNRESTRICTED: Caller = { key: undefined, isWrong: false, may: () => true };

/**
 * Finds out who calls, from the `Authorization: Bearer` header (RFC 6750). Without configured keys everyone may
 * do everything. Keys are compared by their digests, in constant time, and all of them every time.
 */
export function createAuthenticator(
  apiKeys: readonly ApiKey[],
  metricsKey: Secret | undefined,
): (authorization: string | undefined) => Caller {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const known = apiKeys.map(({ role, key }) => ({ rank: RANK[role], digest: digest(key.reveal()) }));
  const metrics = metricsKey === undefined ? undefined : digest(metricsKey.reveal());
  const open = known.length === 0;

  if (open && metrics === undefined) return () => UNRESTRICTED;
  return (authorization) => {
    const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1];
    const given = digest(token ?? '');
    let rank = open ? RANK.admin : 0;
    let location: string | undefined;
    for (const [index, key] of known.entries()) {
      if (!timingSafeEqual(key.digest, given)) continue;
      rank = key.rank;
      location = String(index);
    }
    const isMetricsKey = metrics !== undefined && token !== undefined && timingSafeEqual(metrics, given);
    const key = isMetricsKey ? 'metrics' : location;
    return {
      key,
      isWrong: token !== undefined && key === undefined,
      may: (access) => {
        if (access === 'public') return true;
        // Without a key of its own, /metrics is as open as the rest of the service.
        if (access === 'metrics')
          return metrics === undefined ? rank > 0 : isMetricsKey || (!open && rank > 0);
        if (rank === 0) return false;
        return rank >= RANK[access];
      },
    };
  };
}

/** The error for a caller whose key does not reach: 401 without a valid key, else 403. */
export function denied(caller: Caller, access: Access): RequestError {
  if (access !== 'metrics' && caller.may('viewer')) {
    return new RequestError('forbidden', `this needs a key of the role ${access}`);
  }
  return new RequestError(
    'unauthenticated',
    'this needs a valid key in the Authorization header (scheme Bearer)',
    {
      headers: { 'WWW-Authenticate': 'Bearer realm="svc"' },
    },
  );
}
