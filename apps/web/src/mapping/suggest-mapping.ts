import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { plainText } from '../ui/text/pretty-json.ts';
import { keptColumns } from './kept-columns.ts';
import type { MappingDraft } from './mapping-fields.ts';

/** What a preview says about the mapping of its columns. */
export interface PreviewedTable {
  readonly features: readonly { readonly name: string; readonly dtype: string }[];
  readonly samples: readonly object[];
  readonly suggested_mapping: object | null;
  readonly suggested_mapping_reasons: object | null;
}

/** A mapping to begin with, and why it has a key, by key. */
export interface SuggestedMapping {
  readonly mapping: MappingDraft;
  readonly reasons: Readonly<Record<string, string>>;
}

/** A longer answer is one of many that would be right. */
const MAX_WORDS = 5;
const MAX_LENGTH = 60;

/** The suggestion of the service, with a type where answers are short, an id and tags. */
export function suggestMapping(preview: PreviewedTable): SuggestedMapping {
  const { mapping, reasons } = suggestType(preview);
  const { features, samples } = preview;
  const free = keptColumns(features, mapping);
  const valuesOf = (name: string): readonly string[] =>
    samples.map((row) => plainText(getMember(row as JsonObject, name), MAX_LENGTH + 1));
  const named = free.find((name) => ID.test(name) && areUnique(valuesOf(name)));
  const first = features.slice(0, 1).find(({ name }) => free.includes(name) && areIds(valuesOf(name)))?.name;
  const id = mapping.id_column ? undefined : (named ?? first);
  const tags = mapping.tags_columns
    ? []
    : free.filter((name) => name !== id && areFew(valuesOf(name)) && isTexts(samples, name));
  return {
    mapping: { ...mapping, ...(id && { id_column: id }), ...(tags.length > 0 && { tags_columns: tags }) },
    reasons: {
      ...reasons,
      ...(id && { id_column: 'Each of the first rows has another value.' }),
      ...(tags.length > 0 && {
        tags_columns: 'The first rows have few different values, which charts and filters can use.',
      }),
    },
  };
}

/** Names of columns that tell rows apart, in words of several conventions: `id`, `qid`, `question_id`, `uuid`, `key`. */
const ID = /^(?:.*[_-])?[a-z]?(?:id|uuid|guid|key)$/i;

const areUnique = (values: readonly string[]): boolean =>
  values.length > 0 && !values.includes('') && new Set(values).size === values.length;

/** A first column that counts the rows, or names them in single words with a number in each. */
function areIds(values: readonly string[]): boolean {
  if (values.length < MIN_ROWS || !areUnique(values)) return false;
  const [first = 0] = values.map(Number);
  return (
    values.every((value, row) => Number(value) === first + row) ||
    values.every((value) => /^(?=.*\d)(?!https?:)[\w.:/#-]{1,40}$/.test(value) && !NUMBER.test(value))
  );
}

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Rows of a sample below which repetition says nothing, and the most different values of a tag. */
const MIN_ROWS = 6;
const MAX_TAGS = 8;
const MAX_TAG_LENGTH = 30;

function areFew(values: readonly string[]): boolean {
  const different = new Set(values);
  return (
    values.length >= MIN_ROWS &&
    different.size > 1 &&
    different.size <= Math.min(MAX_TAGS, values.length / 3) &&
    values.every((value) => value.length <= MAX_TAG_LENGTH)
  );
}

const isTexts = (samples: readonly object[], name: string): boolean =>
  samples.every((row) => typeof (getMember(row as JsonObject, name) ?? '') === 'string');

function suggestType({
  samples,
  suggested_mapping,
  suggested_mapping_reasons,
}: PreviewedTable): SuggestedMapping {
  const mapping = (suggested_mapping ?? {}) as MappingDraft;
  const reasons = (suggested_mapping_reasons ?? {}) as Readonly<Record<string, string>>;
  const { answer_column, answer_pattern, default_type, type_column, choices_column, choices_columns } =
    mapping;
  const isOpen = [answer_pattern, default_type, type_column, choices_column, choices_columns].every(
    (key) => key === undefined || key === null,
  );
  if (!answer_column || !isOpen) return { mapping, reasons };
  const answers = samples
    .map((row) => getMember(row as JsonObject, answer_column) ?? null)
    .filter((answer) => answer !== null);
  const areShort = answers.every((answer) => {
    const text = plainText(answer, MAX_LENGTH + 1).trim();
    return typeof answer !== 'object' && text.length <= MAX_LENGTH && text.split(' ').length <= MAX_WORDS;
  });
  if (answers.length === 0 || !areShort) return { mapping, reasons };
  return {
    mapping: { ...mapping, default_type: 'exact' },
    reasons: { ...reasons, default_type: 'The answers are short: an output is right if it is the same.' },
  };
}
