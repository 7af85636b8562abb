import { createTokenBuckets } from './token-buckets.ts';

/** Pairs of an address and a key that are kept; the least recently used one is dropped first. */
const MAX_ACCEPTED = 10_000;

/** Slows down clients that guess keys. */
export interface FailedAttempts {
  /**
   * Counts an attempt.
   *
   * @param address of the client
   * @param key names the valid key; undefined for a wrong key
   * @returns seconds to wait before the next attempt, whether the key was valid or not; 0 when the attempt is accepted
   */
  attempt(address: string, key: string | undefined): number;
}

/**
 * Counts failed attempts of each address: bursts of `perMinute`, refilled evenly. An address without attempts left is
 * rejected with a valid key too, so that guessing on reveals nothing. A key that was accepted from that address before
 * is still accepted, so that an attacker behind the same proxy cannot lock other clients out.
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
