/**
 * Checks that every option is known: a misspelt one would otherwise have no effect.
 *
 * @param of the function, for the message
 * @throws TypeError
 */
export function checkOptions<T extends object>(
  of: string,
  options: T | undefined,
  known: Readonly<Record<keyof T, true>>,
): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(
      `Options of ${of} must be an object, got ${options === null ? 'null' : typeof options}.`,
    );
  }
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return;
  const list = Object.keys(known).join(', ');
  throw new TypeError(
    `${JSON.stringify(unknown.slice(0, 100))} is not an option of ${of}: these are ${list}.`,
  );
}
