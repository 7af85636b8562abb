/** A value in the message of an error. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100));
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
}

/** The error for an argument. */
export function wrongArgument(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, got ${shown(value)}.`);
}

/** Checks that an argument is one of some texts. @throws TypeError */
export function oneOf(name: string, value: unknown, texts: readonly string[]): void {
  if (!texts.some((text) => text === value)) throw wrongArgument(name, `one of ${texts.join(', ')}`, value);
}
