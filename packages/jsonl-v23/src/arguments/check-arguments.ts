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

interface Range {
  /** The lowest number that is allowed. */
  readonly min: 0 | 1;
  /** Whether fractions are allowed, as in milliseconds. */
  readonly fractions?: boolean;
}

/**
 * Checks a number that the caller gave; undefined means the default.
 *
 * @throws TypeError for another type; RangeError for a number that is not finite, too low or not an integer
 */
export function checkNumber(name: string, value: unknown, { min, fractions = false }: Range): void {
  if (value === undefined) return;
  const kind = fractions ? 'number' : 'integer';
  const problem = `${name} must be a ${min === 0 ? 'non-negative' : 'positive'} ${kind}, got`;
  if (typeof value !== 'number') throw new TypeError(`${problem} a value of the type ${typeof value}.`);
  const isInRange = min === 0 ? value >= 0 : value > 0;
  const isOfKind = fractions ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (!isInRange || !isOfKind) throw new RangeError(`${problem} ${value}.`);
}

/** The given members over the defaults; a member that is undefined has its default. */
export function withDefaults<T extends object>(defaults: T, given: Partial<T> | undefined): T {
  const defined = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(defined) };
}
