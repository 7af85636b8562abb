import { type JsonValue, parseNumber } from '@svc/jsonl-v23/json';
import { decimalText } from './numbers.ts';

const NANOS_PER_SECOND = 1_000_000_000n;
const NANOS_PER_DAY = 86_400n * NANOS_PER_SECOND;

/**
 * ISO 8601 date and time of a moment, in UTC and without a zone: `2024-02-29T12:34:56.789000`. Like the hub's own
 * tools, it writes a fraction of six digits, nine if six would lose something, and none if it is zero.
 * @param nanos nanoseconds since 1970-01-01T00:00:00; before it, negative
 */
export function isoTimestamp(nanos: bigint): string {
  const inDay = ((nanos % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;
  const days = Number((nanos - inDay) / NANOS_PER_DAY);
  return `${isoDate(days)}T${isoTime(inDay)}`;
}

/** ISO 8601 time of day, with a fraction as in `isoTimestamp`. @param nanos nanoseconds since midnight */
export function isoTime(nanos: bigint): string {
  const seconds = Number(nanos / NANOS_PER_SECOND);
  const time = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map(twoDigits)
    .join(':');
  return time + fraction(nanos % NANOS_PER_SECOND);
}

/** ISO 8601, proleptic Gregorian; years beyond 0 to 9999: sign and 6 digits or more. @param days since 1970-01-01 */
export function isoDate(days: number): string {
  // Years are counted from March, so that the leap day is the last of a year; 400 years have 146,097 days.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const month = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * month + 2) / 5) + 1;
  const year = era * 400 + yearOfEra + (month >= 10 ? 1 : 0);
  const yearText =
    year >= 0 && year <= 9999
      ? String(year).padStart(4, '0')
      : `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
  return `${yearText}-${twoDigits(month < 10 ? month + 3 : month - 9)}-${twoDigits(day)}`;
}

/**
 * Compiles the conversion of texts of `isoTimestamp` to a time zone, followed by the offset: `Z` for UTC, else
 * `+01:00`. Zones are names (`Europe/Berlin`) or offsets; a timestamp in an unknown zone stays in UTC.
 */
export function compileZone(zone: string): (text: string) => string {
  if (/^(?:UTC|Etc\/UTC|GMT|Z|[+-]00:?00)$/i.test(zone)) return (text) => `${text}Z`;
  const offsetAt = compileOffset(zone);
  return (text) => {
    const fractionText = /\.\d+$/.exec(text)?.[0] ?? '';
    const millis = Date.parse(`${text.slice(0, text.length - fractionText.length)}Z`);
    const offset = Number.isNaN(millis) ? null : offsetAt(millis);
    if (offset === null) return `${text}Z`;
    const local = isoTimestamp(BigInt(millis + offset * 1000) * 1_000_000n);
    return `${local}${fractionText}${offsetText(offset)}`;
  };
}

/** Seconds east of UTC at a moment of a zone, null if the zone is unknown. */
function compileOffset(zone: string): (millis: number) => number | null {
  const fixed = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  if (fixed !== null) {
    const seconds = Number(fixed[2]) * 3600 + Number(fixed[3]) * 60;
    return () => (fixed[1] === '-' ? -seconds : seconds);
  }
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
  } catch (error) {
    // The zone is not in this machine's data.
    if (error instanceof RangeError) return () => null;
    throw error;
  }
  return (millis) => {
    const name = format.formatToParts(millis).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const match = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/.exec(name);
    if (match === null) return null;
    const seconds = Number(match[2] ?? 0) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
    return match[1] === '-' ? -seconds : seconds;
  };
}

function offsetText(offset: number): string {
  const seconds = Math.abs(offset);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  // Local times of old had offsets of seconds.
  if (seconds % 60 !== 0) parts.push(seconds % 60);
  return (offset < 0 ? '-' : '+') + parts.map(twoDigits).join(':');
}

function fraction(nanos: bigint): string {
  if (nanos === 0n) return '';
  const digits = nanos.toString().padStart(9, '0');
  return `.${digits.endsWith('000') ? digits.slice(0, 6) : digits}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

export type TimeUnit = 's' | 'ms' | 'us' | 'ns';

export interface TimeType {
  readonly kind: 'timestamp' | 'duration' | 'time';
  readonly unit: TimeUnit;
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

export function nanosOf(unit: TimeUnit): bigint {
  return 10n ** BigInt(9 - DIGITS[unit]);
}

export function durationSeconds(count: bigint, unit: TimeUnit): JsonValue {
  return parseNumber(decimalText(count, DIGITS[unit]));
}

/** ISO 8601 time of day, also `24:00:00`, which databases have for the end of a day; null if the day has no such time. */
export function timeOfDay(count: bigint, unit: TimeUnit): string | null {
  const nanos = count * nanosOf(unit);
  return nanos >= 0n && nanos <= 86_400_000_000_000n ? isoTime(nanos) : null;
}

/**
 * Completes a text to the form of timestamp[s]: a date, or a date and hours, minutes, seconds, without a zone.
 * @returns null if the text is not a timestamp
 * @example completeTimestamp('2020-01-01') // '2020-01-01T00:00:00'
 */
export function completeTimestamp(text: string): string | null {
  const match = /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2}))?)?)?$/.exec(
    text,
  );
  if (match === null) return null;
  const [, year = '', month = '', day = '', hour = '00', minute = '00', second = '00'] = match;
  if (Number(month) < 1 || Number(month) > 12 || Number(day) < 1) return null;
  if (Number(day) > daysInMonth(Number(year), Number(month))) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}`;
}

function daysInMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}
