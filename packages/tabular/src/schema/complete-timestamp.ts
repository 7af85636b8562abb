/**
 * Completes a text to the form of timestamp[s]: a date, or a date and hours, minutes, seconds, without a zone.
 *
 * @returns null if the text is not a timestamp
 *
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
