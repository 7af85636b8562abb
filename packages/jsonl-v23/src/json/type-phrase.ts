const PHRASES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'a boolean',
  integer: 'an integer',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a string',
};

/** Types of JSON Schema in words: `an object, a string or null`. */
export function typePhrase(types: readonly string[]): string {
  const phrases = types.map((type) => PHRASES[type] ?? type);
  const last = phrases.pop() ?? '';
  return phrases.length === 0 ? last : `${phrases.join(', ')} or ${last}`;
}
