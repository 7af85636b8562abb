import { useDebouncedValue } from '@mantine/hooks';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { useMemo, useState } from 'react';
import { plainText } from '../ui/text/formats.ts';
import { completeMapping, type MappingDraft } from './mapping-fields.ts';

export interface PreviewedTable {
  readonly features: readonly { readonly name: string; readonly dtype: string }[];
  readonly samples: readonly object[];
  readonly suggested_mapping: object | null;
  readonly suggested_mapping_reasons: object | null;
  readonly info: object;
}

/** A longer answer is one of many that would be right. */
const MAX_WORDS = 5;
const MAX_LENGTH = 60;

/** The suggestion of the service, with an answer that it lacks, a type where answers are short, an id and tags. */
export function suggestMapping(preview: PreviewedTable) {
  const { features, samples } = preview;
  const suggested = (preview.suggested_mapping ?? {}) as MappingDraft;
  const answer = suggested.answer_column ? undefined : answerOf(preview, suggested);
  const mapping = answer === undefined ? suggested : { ...suggested, answer_column: answer };
  const type = typeOf(samples, mapping);
  const free = keptColumns(features, mapping);
  const valuesOf = (name: string): readonly string[] =>
    samples.map((row) => plainText(getMember(row as JsonObject, name), Number.POSITIVE_INFINITY));
  const named = free.find((name) => ID.test(name) && areUnique(valuesOf(name)));
  const first = features.slice(0, 1).find(({ name }) => free.includes(name) && areIds(valuesOf(name)))?.name;
  const id = mapping.id_column ? undefined : (named ?? first);
  const tags = mapping.tags_columns
    ? []
    : free.filter((name) => name !== id && areFew(valuesOf(name)) && isTexts(samples, name));
  const found: MappingDraft = {
    ...withType(samples, mapping),
    ...(id && { id_column: id }),
    ...(tags.length > 0 && { tags_columns: tags }),
  };
  const reasons: Readonly<Record<string, string>> = {
    ...preview.suggested_mapping_reasons,
    ...(answer !== undefined && {
      answer_column: `Column ${JSON.stringify(answer)} has the name of an answer.`,
    }),
    ...(type !== null && { default_type: type.reason }),
    ...(id && { id_column: 'Each of the first rows has another value.' }),
    ...(tags.length > 0 && {
      tags_columns: 'The first rows have few different values, which charts and filters can use.',
    }),
  };
  return { mapping: found, reasons };
}

/** Names of columns with what is expected, best first. The service suggests one only where it finds a prompt. */
const ANSWERS: readonly string[] = [
  'answer',
  'gold',
  'gold_answer',
  'target',
  'label',
  'solution',
  'expected',
];

function answerOf({ features, samples }: PreviewedTable, mapping: MappingDraft): string | undefined {
  const free = keptColumns(features, mapping).filter((name) =>
    samples.some((row) => (getMember(row as JsonObject, name) ?? null) !== null),
  );
  const find = (wanted: string): string | undefined => free.find((name) => name.toLowerCase() === wanted);
  return ANSWERS.map(find).find((name) => name !== undefined);
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

/** The type of items whose answers are numbers or short, which says how to score them, and why; null if it is open. */
function typeOf(
  samples: readonly object[],
  { answer_column, answer_pattern, default_type, type_column, choices_column, choices_columns }: MappingDraft,
): { readonly type: string; readonly reason: string } | null {
  const isOpen = [answer_pattern, default_type, type_column, choices_column, choices_columns].every(
    (key) => key === undefined || key === null,
  );
  if (!answer_column || !isOpen) return null;
  const answers = samples
    .map((row) => getMember(row as JsonObject, answer_column) ?? null)
    .filter((answer) => answer !== null);
  const texts = answers.map((answer) => plainText(answer, Number.POSITIVE_INFINITY).trim());
  const areShort = texts.every(
    (text, at) =>
      typeof answers[at] !== 'object' && text.length <= MAX_LENGTH && text.split(' ').length <= MAX_WORDS,
  );
  if (answers.length === 0 || !areShort) return null;
  return texts.every((text) => NUMBER.test(text))
    ? {
        type: 'numeric',
        reason: 'The answers are numbers: an output is right if its last number is the same.',
      }
    : { type: 'exact', reason: 'The answers are short: an output is right if it is the same.' };
}

/** The mapping after another answer was chosen: with the type of its items, unless something states one. */
export function withType(samples: readonly object[], mapping: MappingDraft): MappingDraft {
  const found = typeOf(samples, mapping);
  return found === null ? mapping : { ...mapping, default_type: found.type };
}

/** Bytes of files do not belong in metadata. */
const FILES = /image|audio|video|binary|bytes|pdf/i;

/** Columns that a mapping does not use and that metadata can keep. */
function keptColumns(
  features: readonly { readonly name: string; readonly dtype: string }[],
  draft: MappingDraft,
): readonly string[] {
  const used = new Set(Object.entries(draft).flatMap(([key, value]) => columnsIn(key, value)));
  return features.filter(({ name, dtype }) => !used.has(name) && !FILES.test(dtype)).map(({ name }) => name);
}

function columnsIn(key: string, value: unknown): readonly string[] {
  if (value === null || value === undefined || key === 'types') return [];
  if (typeof value === 'string')
    return key.endsWith('_template')
      ? [...value.matchAll(/\{([^{}]+)\}/g)].map(([, name = '']) => name)
      : key.endsWith('_column')
        ? [value]
        : [];
  return /_columns$/.test(key) ? Object.values(value).map(String) : [];
}

/** A mapping that keeps columns as metadata under their own names: each one, unless others hold files. */
function withMetadata(draft: MappingDraft, columns: readonly string[], hasFiles: boolean): MappingDraft {
  if (columns.length === 0) return draft;
  if (!hasFiles) return { ...draft, keep_unmapped: true };
  const stated = draft.meta_columns ?? {};
  const before = Array.isArray(stated) ? stated.map((name) => [name, name] as const) : Object.entries(stated);
  return {
    ...draft,
    meta_columns: Object.fromEntries([...columns.map((name) => [name, name] as const), ...before]),
  } as MappingDraft;
}

const TYPING_MS = 300;

/** Keeps the mapping of an import; it begins with a suggestion, and keeps every other column as metadata. */
export function useMappingDraft(preview: PreviewedTable) {
  const { features, samples } = preview;
  const suggested = useMemo(() => suggestMapping(preview), [preview]);
  const [draft, setDraft] = useState<MappingDraft>(suggested.mapping);
  const [keepsOthers, setKeepsOthers] = useState(true);
  const others = useMemo(() => keptColumns(features, draft), [features, draft]);
  const hasFiles = features.some(({ dtype }) => FILES.test(dtype));
  const shown = useMemo(
    () => completeMapping(keepsOthers ? withMetadata(draft, others, hasFiles) : draft),
    [draft, others, keepsOthers, hasFiles],
  );
  const [settled] = useDebouncedValue(shown, TYPING_MS);
  const change = (next: MappingDraft): void =>
    setDraft(next.answer_column === draft.answer_column ? next : withType(samples, next));
  return {
    draft,
    setDraft: change,
    /** Why the suggestion has a key, by key. */
    reasons: suggested.reasons,
    others,
    keepsOthers,
    setKeepsOthers,
    /** What the fields show: what an import sends. Null while the prompt is not mapped. */
    shown,
    /** The mapping after typing has paused: what a preview asks for. */
    settled,
  };
}
