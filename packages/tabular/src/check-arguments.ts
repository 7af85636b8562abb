function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 100));
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value;
}

export function wrongArgument(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name} must be ${expected}, got ${shown(value)}.`);
}

/** Checks options that are true or false. @throws TypeError */
export function checkFlags(options: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined && typeof value !== 'boolean') throw wrongArgument(name, 'a boolean', value);
  }
}

export function checkTextColumns(columns: unknown): void {
  if (columns === undefined || columns === 'all' || columns instanceof Set) return;
  throw wrongArgument('textColumns', 'a Set of names or "all"', columns);
}

export function oneOf(name: string, value: unknown, texts: readonly string[]): void {
  if (!texts.some((text) => text === value)) throw wrongArgument(name, `one of ${texts.join(', ')}`, value);
}
