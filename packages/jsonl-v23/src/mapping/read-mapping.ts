import { JsonlError } from '../errors.ts';
import {
  describeValue,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { jsonPointer } from '../source-location.ts';
import { ANSWER_KINDS, type ColumnType, checkMappingBounds, type Mapping } from './mapping.ts';

type Kind = 'text' | 'texts' | 'columns by key' | 'types' | 'checker' | 'flag' | readonly string[];

/** The keys of a mapping as requests and files have it, each with its member and what it holds. */
const KEYS: Readonly<Record<string, readonly [member: keyof Mapping, kind: Kind]>> = {
  prompt_column: ['promptColumn', 'text'],
  prompt_template: ['promptTemplate', 'text'],
  answer_column: ['answerColumn', 'text'],
  answer_pattern: ['answerPattern', 'text'],
  answer_is: ['answerIs', Object.keys(ANSWER_KINDS)],
  default_type: ['defaultType', 'text'],
  type_column: ['typeColumn', 'text'],
  meta_columns: ['metaColumns', 'columns by key'],
  criteria_columns: ['criteriaColumns', 'texts'],
  choices_column: ['choicesColumn', 'text'],
  choices_columns: ['choicesColumns', 'texts'],
  assets_column: ['assetsColumn', 'text'],
  system_prompt_column: ['systemPromptColumn', 'text'],
  system_prompt_template: ['systemPromptTemplate', 'text'],
  id_column: ['idColumn', 'text'],
  tags_columns: ['tagsColumns', 'texts'],
  checker: ['checker', 'checker'],
  checker_column: ['checkerColumn', 'text'],
  keep_unmapped: ['keepUnmapped', 'flag'],
  tags: ['tags', 'texts'],
  types: ['types', 'types'],
  invalid_rows: ['invalidRows', ['fail', 'skip']],
};

/** The members that a mapping cannot have: a misspelt one, or `prompt_column` for `promptColumn`. */
export function unknownMembers(mapping: object): string[] {
  const members = new Set<string>(Object.values(KEYS).map(([member]) => member));
  return Object.keys(mapping).filter((name) => !members.has(name));
}

/** A mapping has at most one of these keys. */
const EXCLUSIVE_KEYS = [
  ['prompt_column', 'prompt_template'],
  ['system_prompt_column', 'system_prompt_template'],
  ['choices_column', 'choices_columns'],
] as const;

const TYPES: readonly ColumnType[] = ['string', 'int64', 'float64', 'bool', 'json'];

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
  const mapping: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    const known = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
    if (known === undefined) {
      throw invalid([key], `A mapping must not have the key ${JSON.stringify(key.slice(0, 100))}`);
    }
    if (member === null) continue;
    const [name, kind] = known;
    checkMember(key, kind, member);
    mapping[name] = member;
  }
  if (mapping['promptColumn'] === undefined && mapping['promptTemplate'] === undefined) {
    throw invalid(['prompt_column'], 'A mapping must have prompt_column or prompt_template');
  }
  const isGiven = (key: string): boolean => (getMember(value, key) ?? null) !== null;
  for (const [one, other] of EXCLUSIVE_KEYS) {
    if (isGiven(one) && isGiven(other))
      throw invalid([other], `A mapping must not have both ${one} and ${other}`);
  }
  checkAnswerRules(mapping as Mapping);
  checkMappingBounds(mapping as Mapping);
  return mapping as Mapping;
}

/** What rules for answers need. */
function checkAnswerRules(mapping: Mapping): void {
  const { answerIs = 'text', answerColumn, answerPattern, choicesColumn, choicesColumns = [] } = mapping;
  if (answerIs !== 'text' && choicesColumn === undefined && choicesColumns.length === 0) {
    const needed = 'choices_column or choices_columns';
    throw invalid(['answer_is'], `A mapping with answer_is ${answerIs} must have ${needed}`);
  }
  const rule = answerIs === 'text' ? 'answer_pattern' : 'answer_is';
  if (answerColumn === undefined && (rule === 'answer_is' || answerPattern !== undefined)) {
    throw invalid([rule], `A mapping with ${rule} must have answer_column`);
  }
}

/** Writes a mapping as requests and files have it. */
export function writeMapping(mapping: Mapping): JsonObject {
  const written: JsonObject = {};
  for (const [key, [name]] of Object.entries(KEYS)) {
    const member = mapping[name];
    if (member !== undefined) setMember(written, key, member as JsonValue);
  }
  return written;
}

function checkMember(key: string, kind: Kind, value: JsonValue): void {
  const expect = (isValid: boolean, what: string): void => {
    if (!isValid) throw invalid([key], `${key} must be ${what}, got ${describeValue(value)}`);
  };
  if (Array.isArray(kind)) {
    expect(typeof value === 'string' && kind.includes(value), `one of ${kind.join(', ')}`);
  } else if (kind === 'text') expect(isText(value), 'a text that is not empty');
  else if (kind === 'texts') expect(isTexts(value), 'an array of different texts');
  else if (kind === 'flag') expect(typeof value === 'boolean', 'true or false');
  else if (kind === 'checker')
    expect(typeof value === 'string' || isJsonObject(value), 'an object or a text');
  else if (kind === 'columns by key') {
    expect(isTexts(value) || hasOnly(value, isText), 'an object of columns or an array of them');
  } else {
    expect(
      hasOnly(value, (type) => TYPES.some((known) => known === type)),
      `an object from columns to ${TYPES.join(', ')}`,
    );
  }
}

const isText = (value: JsonValue): boolean => typeof value === 'string' && value !== '';

const isTexts = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every(isText) && new Set(value).size === value.length;

function hasOnly(value: JsonValue, isValid: (member: JsonValue) => boolean): boolean {
  if (!isJsonObject(value)) return false;
  return Object.keys(value).every((key) => isValid(getMember(value, key) ?? null));
}

function invalid(path: readonly string[], message: string): JsonlError {
  return new JsonlError('invalid_mapping', message, { path: jsonPointer(['mapping', ...path]) });
}
