import type { Status } from './use-status.ts';

const HISTORY_MINUTES = 360;
const MINUTE_MS = 60_000;

interface Minute {
  readonly requests: number;
  readonly errors: number;
}

/** Every minute of the last six hours; the service leaves out those without requests. */
export function minutesOf(listed: Status['provider_requests'], nowMs: number): readonly Minute[] {
  const found = new Map(
    listed.map(({ minute, ...counts }) => [Math.floor(Date.parse(minute) / MINUTE_MS), counts]),
  );
  const last = Math.floor(nowMs / MINUTE_MS);
  return Array.from(
    { length: HISTORY_MINUTES },
    (_, at) => found.get(last - HISTORY_MINUTES + 1 + at) ?? { requests: 0, errors: 0 },
  );
}
