import { typePhrase } from './json/type-phrase.ts';

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
