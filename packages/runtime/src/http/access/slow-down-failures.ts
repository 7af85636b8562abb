import { createTokenBuckets } from './token-buckets.ts';

/** Pairs of an address and a key that are remembered; beyond it, the one that was not used longest is forgotten. */
const MAX_ACCEPTED = 10_000;

/** Slows down whoever tries keys. */
export interface FailedAttempts {
  /**
   * Counts an attempt.
   *
   * @param address where it comes from
   * @param key names the key that it was right with; undefined for a wrong key
   * @returns after how many seconds to try again, whether the key was right or not; 0 where the attempt counts
   */
  attempt(address: string, key: string | undefined): number;
}

/**
 * Counts failed attempts of each address: `perMinute` at once, refilled evenly. An address that has none left gets the
 * same refusal for a right key as for a wrong one, so that guessing on gives nothing away; a key that was
 * accepted from that address before goes on to be, so that a stranger behind the same proxy locks nobody out.
 */
export function slowDownFailures(
  perMinute: number,
  now?: () => number,
  maxAccepted: number = MAX_ACCEPTED,
): FailedAttempts {
  const failures = createTokenBuckets(perMinute, now);
  const accepted = new Set<string>();
  return {
    attempt: (address, key) => {
      if (key === undefined) {
        const { allowed, resetSeconds } = failures.take(address);
        return allowed ? 0 : resetSeconds;
      }
      const pair = `${key} ${address}`;
      if (!accepted.delete(pair)) {
        const { allowed, resetSeconds } = failures.look(address);
        if (!allowed) return resetSeconds;
      }
      accepted.add(pair);
      if (accepted.size > maxAccepted) accepted.delete(accepted.values().next().value ?? '');
      return 0;
    },
  };
}
