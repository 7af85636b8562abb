/**
 * Makes a function that writes a time as ISO 8601 in UTC, as `Date.prototype.toISOString` does, and puts a second
 * together only once: lines of the log come in their thousands.
 */
export function createIsoClock(now: () => Date): () => string {
  let second = Number.NaN;
  let prefix = '';
  return () => {
    const time = now();
    const milliseconds = time.getTime();
    const current = Math.floor(milliseconds / 1000);
    if (current !== second) {
      // the date itself goes before, in whatever length its year has
      prefix = time.toISOString().slice(0, -4);
      second = current;
    }
    return `${prefix}${String(milliseconds - current * 1000).padStart(3, '0')}Z`;
  };
}
