const MAX_SHOWN_LENGTH = 100;

/** Text for a message: quoted, control characters escaped, shortened past 100 characters. */
export function describeText(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, MAX_SHOWN_LENGTH))}... (${text.length} characters)`;
}

/** Types of JSON Schema in words: `an object, a string or null`. */
export function typePhrase(types: readonly string[]): string {
  const phrases = types.map((type) =>
    type === 'null' ? type : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`,
  );
  const last = phrases.pop() ?? '';
  return phrases.length === 0 ? last : `${phrases.join(', ')} or ${last}`;
}

/** An error of a JSON Schema validator, as ajv reports it with `verbose`. */
export interface SchemaError {
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly parentSchema?: Readonly<Record<string, unknown>> | undefined;
  readonly message?: string | undefined;
}

/**
 * What is wrong with a value, to follow its name in a sentence: `must be at least 1`. A schema may say its `pattern` in
 * words, as `x-rule`.
 */
export function schemaPredicate({ keyword, params, parentSchema, message }: SchemaError): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is unknown';
    case 'type':
      return `must be ${typePhrase([params['type']].flat() as string[])}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`;
    case 'const':
      return `must be ${params['allowedValue']}`;
    case 'format':
      return `must be a ${params['format']}`;
    case 'pattern':
      return String(parentSchema?.['x-rule'] ?? 'has an invalid format');
    case 'minimum':
      return `must be at least ${params['limit']}`;
    case 'maximum':
      return `must be at most ${params['limit']}`;
    default: {
      const counted = COUNTED[keyword];
      if (counted === undefined) return message ?? 'is invalid';
      const [least, one, many] = counted;
      return `must have at ${least} ${params['limit']} ${params['limit'] === 1 ? one : many}`;
    }
  }
}

const COUNTED: Readonly<Record<string, readonly ['least' | 'most', one: string, many: string]>> = {
  minLength: ['least', 'character', 'characters'],
  maxLength: ['most', 'character', 'characters'],
  minItems: ['least', 'entry', 'entries'],
  maxItems: ['most', 'entry', 'entries'],
  minProperties: ['least', 'member', 'members'],
  maxProperties: ['most', 'member', 'members'],
};
