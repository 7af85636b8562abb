import { createHash, timingSafeEqual } from 'node:crypto';
import type { ApiKey } from '../../config/load-config.ts';
import type { Secret } from '../../config/secret.ts';
import { RequestError } from '../request/request-error.ts';
import type { Access } from '../route.ts';

const RANK = { viewer: 1, editor: 2, admin: 3 } as const;

/** What the key of a request allows. */
export interface Caller {
  /** Index of the key among the configured ones, or `metrics`; undefined without a valid key. */
  readonly key: string | undefined;
  /** Whether the request has a key that is not valid. */
  readonly isWrong: boolean;
  can(access: Access): boolean;
}

/** The caller of a request whose key was not checked. */
export const ANONYMOUS: Caller = { key: undefined, isWrong: false, can: (access) => access === 'public' };

/** The caller where no keys are configured. */
const UNRESTRICTED: Caller = { key: undefined, isWrong: false, can: () => true };

/**
 * Identifies the caller by the `Authorization: Bearer` header (RFC 6750). Without configured keys every caller can do
 * everything. Digests of keys are compared, in constant time, and all of them every time.
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
    let index: string | undefined;
    for (const [at, key] of known.entries()) {
      if (!timingSafeEqual(key.digest, given)) continue;
      rank = key.rank;
      index = String(at);
    }
    const isMetricsKey = metrics !== undefined && token !== undefined && timingSafeEqual(metrics, given);
    const key = isMetricsKey ? 'metrics' : index;
    return {
      key,
      isWrong: token !== undefined && key === undefined,
      can: (access) => {
        if (access === 'public') return true;
        // Without a metrics key, /metrics is as open as the rest of the service.
        if (access === 'metrics')
          return metrics === undefined ? rank > 0 : isMetricsKey || (!open && rank > 0);
        if (rank === 0) return false;
        return rank >= RANK[access];
      },
    };
  };
}

/** The error for a caller without the access that it needs: 401 without a valid key, else 403. */
export function forbidden(caller: Caller, access: Access): RequestError {
  if (access !== 'metrics' && caller.can('viewer')) {
    return new RequestError('forbidden', `This needs a key with the role ${access}.`);
  }
  return new RequestError(
    'unauthenticated',
    'This needs a valid key in the Authorization header (scheme Bearer).',
    {
      headers: { 'WWW-Authenticate': 'Bearer realm="svc"' },
    },
  );
}
