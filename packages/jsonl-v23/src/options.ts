interface Range {
  /** The lowest number that is allowed. */
  readonly min: 0 | 1;
  /** The highest number that is allowed; default any. */
  readonly max?: number;
  /** Whether fractions are allowed, as in milliseconds. */
  readonly fractions?: boolean;
}

/** Undefined means the default. @throws TypeError for another type; RangeError for a number that is not allowed */
export function checkNumber(name: string, value: unknown, { min, max, fractions = false }: Range): void {
  if (value === undefined) return;
  const kind = fractions ? 'number' : 'integer';
  const bound = max === undefined ? '' : ` of at most ${max}`;
  const problem = `${name} must be a ${min === 0 ? 'non-negative' : 'positive'} ${kind}${bound}, got`;
  if (typeof value !== 'number') throw new TypeError(`${problem} a value of the type ${typeof value}.`);
  const isInRange = (min === 0 ? value >= 0 : value > 0) && value <= (max ?? Number.POSITIVE_INFINITY);
  const isOfKind = fractions ? Number.isFinite(value) : Number.isSafeInteger(value);
  if (!isInRange || !isOfKind) throw new RangeError(`${problem} ${value}.`);
}

/** Checks a text that the caller gave; undefined means the default. @throws TypeError for another type */
export function checkText(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'string') return;
  throw new TypeError(`${name} must be a string, got a value of the type ${typeof value}.`);
}

/** The given members over the defaults; an undefined member has its default. */
export function withDefaults<T extends object>(defaults: T, given: Partial<T> | undefined): T {
  const defined = Object.entries(given ?? {}).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(defined) };
}
