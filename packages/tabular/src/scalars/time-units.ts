import { type JsonValue, parseNumber } from '@svc/jsonl-v23/json';
import { decimalText } from './decimal.ts';
import { isoTime } from './iso-time.ts';

/** Units of times, as dtypes call them. */
export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

/** What a dtype of times says. */
export interface TimeType {
  readonly kind: 'timestamp' | 'duration' | 'time';
  readonly unit: TimeUnit;
  /** The zone of timestamps that have one. */
  readonly zone: string | undefined;
}

const TIME_TYPE = /^(timestamp|duration|time)(?:32|64)?\[(s|ms|us|ns)(?:, tz=([^\]]{1,128}))?\]$/;

/** Reads a dtype such as `timestamp[us, tz=UTC]`, `duration[s]` and `time64[us]`; null for any other. */
export function parseTimeType(dtype: string): TimeType | null {
  const match = TIME_TYPE.exec(dtype);
  if (match === null) return null;
  const [, kind, unit, zone] = match;
  return { kind: kind as TimeType['kind'], unit: unit as TimeUnit, zone };
}

const DIGITS: Readonly<Record<TimeUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 };

/** Nanoseconds of a unit. */
export function nanosOf(unit: TimeUnit): bigint {
  return 10n ** BigInt(9 - DIGITS[unit]);
}

/** A duration as exact seconds. */
export function durationSeconds(count: bigint, unit: TimeUnit): JsonValue {
  return parseNumber(decimalText(count, DIGITS[unit]));
}

/** ISO 8601 time of day, also `24:00:00`, which databases have for the end of a day; null if the day has no such time. */
export function timeOfDay(count: bigint, unit: TimeUnit): string | null {
  const nanos = count * nanosOf(unit);
  return nanos >= 0n && nanos <= 86_400_000_000_000n ? isoTime(nanos) : null;
}
