import { JsonlError } from '../errors.ts';
import type { JsonSchema } from '../item/item.ts';
import {
  describeValue,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { jsonPointer } from '../source-location.ts';
import { ANSWER_KINDS, checkMappingBounds, MAX_PATTERN_LENGTH, type Mapping } from './mapping.ts';
import { MAX_TEMPLATE_LENGTH } from './template.ts';

interface MappingKey {
  readonly wanted: string;
  readonly isValid: (value: JsonValue) => boolean;
  readonly schema: JsonSchema;
}

const MAX_COLUMNS = 1000;
const COLUMN_TYPES: readonly JsonValue[] = ['string', 'int64', 'float64', 'bool', 'json'];

const isText = (value: JsonValue): boolean => typeof value === 'string' && value !== '';

const isTexts = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;

const hasOnly = (value: JsonValue, isValid: (member: JsonValue) => boolean): boolean =>
  isJsonObject(value) && Object.keys(value).every((key) => isValid(getMember(value, key) ?? null));

const text = (maxLength: number, description: string): MappingKey => ({
  wanted: 'a text that is not empty',
  isValid: isText,
  schema: { type: ['string', 'null'], minLength: 1, maxLength, description },
});

const column = (description: string): MappingKey => text(1024, description);

const texts = (description: string): MappingKey => ({
  wanted: 'an array of different texts',
  isValid: isTexts,
  schema: {
    type: ['array', 'null'],
    items: { type: 'string', minLength: 1 },
    maxItems: MAX_COLUMNS,
    uniqueItems: true,
    description,
  },
});

const oneOf = (words: readonly JsonValue[], description: string): MappingKey => ({
  wanted: `one of ${words.join(', ')}`,
  isValid: (value) => words.includes(value),
  schema: { type: ['string', 'null'], enum: [...words, null], description },
});

const KEYS: Readonly<Record<string, MappingKey>> = {
  prompt_column: column('becomes the prompt; a list of {role, content} becomes the messages'),
  prompt_template: text(MAX_TEMPLATE_LENGTH, 'text with {column} placeholders; {{ is a brace'),
  answer_column: column('becomes the answer'),
  answer_pattern: text(
    MAX_PATTERN_LENGTH,
    'its first group is taken from the answer’s text; a row that does not match is invalid',
  ),
  answer_is: oneOf(
    Object.keys(ANSWER_KINDS),
    `what the answer is; all but \`text\` must name a choice, whose text becomes the answer: ${Object.entries(
      ANSWER_KINDS,
    )
      .map(([kind, meaning]) => `\`${kind}\`, ${meaning}`)
      .join('; ')}`,
  ),
  default_type: text(1024, 'the type of every item; `freeform` where it is absent'),
  type_column: column('has the items’ types'),
  meta_columns: {
    wanted: 'an object of columns or an array of them',
    isValid: (value) => isTexts(value) || hasOnly(value, isText),
    schema: {
      description: 'key in `meta` → column; an array of columns means keys of the same names',
      anyOf: [
        {
          type: 'object',
          additionalProperties: { type: 'string', minLength: 1 },
          maxProperties: MAX_COLUMNS,
        },
        texts('columns').schema,
      ],
    },
  },
  criteria_columns: texts('become the criteria, in this order'),
  choices_column: column(
    'becomes the choices: an array, an object of labels and texts or of parallel arrays, or a text that is one of them',
  ),
  choices_columns: texts('become one choice each'),
  assets_column: column('becomes the assets'),
  system_prompt_column: column('becomes the system prompt'),
  system_prompt_template: text(MAX_TEMPLATE_LENGTH, 'as prompt_template'),
  id_column: column('becomes the id; without it the id is <split or section>-<row index>'),
  tags_columns: texts('their values become tags'),
  checker: {
    wanted: 'an object or a text',
    isValid: (value) => typeof value === 'string' || isJsonObject(value),
    schema: { type: ['object', 'string', 'null'], description: 'how the output of every item is scored' },
  },
  checker_column: column('has the items’ checkers: objects, also as JSON, or names of checkers'),
  keep_unmapped: {
    wanted: 'true or false',
    isValid: (value) => typeof value === 'boolean',
    schema: {
      type: ['boolean', 'null'],
      description: 'whether the columns that no other key names are kept in `meta`, under their names',
    },
  },
  tags: texts('tags of every item'),
  types: {
    wanted: `an object from columns to ${COLUMN_TYPES.join(', ')}`,
    isValid: (value) => hasOnly(value, (type) => COLUMN_TYPES.includes(type)),
    schema: {
      type: ['object', 'null'],
      additionalProperties: { type: 'string', enum: COLUMN_TYPES },
      maxProperties: MAX_COLUMNS,
      description: 'column → type, which overrides inference; a value that does not fit is an invalid row',
    },
  },
  invalid_rows: oneOf(
    ['fail', 'skip'],
    '`skip` leaves out the rows that do not become items, and counts them',
  ),
};

const hasText = (key: string): JsonSchema => ({
  type: 'object',
  properties: { [key]: { type: 'string' } },
  required: [key],
});

/** The JSON Schema (2020-12) of a mapping as requests and files have it; null means absent. */
export const MAPPING_SCHEMA: JsonSchema = {
  type: 'object',
  description:
    'which column becomes which part of an item; one of prompt_column and prompt_template is required; a column is in at most 20 places, and what every item gets alike (checker, tags, default_type, the texts of templates, keys of meta) has at most 64 KiB together',
  properties: Object.fromEntries(Object.entries(KEYS).map(([key, { schema }]) => [key, schema])),
  anyOf: [hasText('prompt_column'), hasText('prompt_template')],
  additionalProperties: false,
};

/** The member of a {@link Mapping} for a key: `promptColumn` for `prompt_column`. */
const memberOf = (key: string): keyof Mapping =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) as keyof Mapping;

/** A mapping has at most one of these keys. */
const EXCLUSIVE_KEYS = [
  ['prompt_column', 'prompt_template'],
  ['system_prompt_column', 'system_prompt_template'],
  ['choices_column', 'choices_columns'],
] as const;

/** @param nameOf what the author of the mapping calls the member of a key */
export function checkMembers(mapping: Mapping, nameOf: (key: string) => string): void {
  const isGiven = (key: string): boolean => mapping[memberOf(key)] !== undefined;
  const isString = (key: string): boolean => typeof mapping[memberOf(key)] === 'string';
  const check = (isValid: boolean, key: string, needs: string, ...others: string[]): void => {
    if (!isValid) throw invalid([key], `A mapping ${needs} ${others.map(nameOf).join(' or ')}`);
  };
  check(
    isString('prompt_column') || isString('prompt_template'),
    'prompt_column',
    'must have',
    ...EXCLUSIVE_KEYS[0],
  );
  for (const [one, other] of EXCLUSIVE_KEYS) {
    const needs = `must not have both ${nameOf(one)} and`;
    check(!isGiven(one) || !isGiven(other), other, needs, other);
  }
  const { answerIs = 'text', choicesColumns = [] } = mapping;
  const hasChoices = isGiven('choices_column') || choicesColumns.length > 0;
  const needs = `with ${nameOf('answer_is')} ${answerIs} must have`;
  check(answerIs === 'text' || hasChoices, 'answer_is', needs, 'choices_column', 'choices_columns');
  const rule = answerIs === 'text' ? 'answer_pattern' : 'answer_is';
  const hasRule = rule === 'answer_is' || isGiven(rule);
  check(!hasRule || isGiven('answer_column'), rule, `with ${nameOf(rule)} must have`, 'answer_column');
}

/** Checks a mapping as programs write it, with camelCase members. */
export function checkMapping(mapping: Mapping): void {
  const members = new Set<string>(Object.keys(KEYS).map(memberOf));
  const unknown = Object.keys(mapping).find((name) => !members.has(name));
  if (unknown !== undefined) {
    throw new JsonlError('invalid_mapping', `A mapping must not have the member ${JSON.stringify(unknown)}`);
  }
  checkMembers(mapping, memberOf);
  checkMappingBounds(mapping);
}

/**
 * Reads a mapping as requests and files have it, with snake_case keys; null means absent. What it adds to every item
 * has at most 64 KiB, and a column is in at most 20 places.
 *
 * @throws JsonlError `invalid_mapping` with the path of the member, from `/mapping` on
 *
 * @example readMapping({ prompt_column: 'question', types: { id: 'string' } })
 * // { promptColumn: 'question', types: { id: 'string' } }
 */
export function readMapping(value: JsonValue): Mapping {
  if (!isJsonObject(value)) throw invalid([], `A mapping must be an object, got ${describeValue(value)}`);
  const members: Record<string, JsonValue> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (known === undefined) {
      throw invalid([key], `A mapping must not have the key ${JSON.stringify(key.slice(0, 100))}`);
    }
    if (member === null) continue;
    if (!known.isValid(member)) {
      throw invalid([key], `${key} must be ${known.wanted}, got ${describeValue(member)}`);
    }
    members[memberOf(key)] = member;
  }
  const mapping = members as Mapping;
  checkMembers(mapping, (key) => key);
  checkMappingBounds(mapping);
  return mapping;
}

/** Writes a mapping as requests and files have it. */
export function writeMapping(mapping: Mapping): JsonObject {
  const written: JsonObject = {};
  for (const key of Object.keys(KEYS)) {
    const member = mapping[memberOf(key)];
    if (member !== undefined) setMember(written, key, member as JsonValue);
  }
  return written;
}

function invalid(path: readonly string[], message: string): JsonlError {
  return new JsonlError('invalid_mapping', message, { path: jsonPointer(['mapping', ...path]) });
}
