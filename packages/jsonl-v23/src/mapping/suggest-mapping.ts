import { JsonlError } from '../errors.ts';
import type { JsonObject } from '../json/json-value.ts';
import { compileMapping, type MappableFeature } from './compile-mapping.ts';
import { type Mapping, mappedColumns, type Suggestion } from './mapping.ts';
import { writeMapping } from './read-mapping.ts';
import { suggestAnswerRule } from './suggest-answer-rule.ts';
import { suggestFromNames, withChoices } from './suggest-from-names.ts';
import { templateColumns } from './template.ts';

/**
 * Suggests how the columns of a dataset become items: by their names and types, and by the values of the rows. It
 * chooses no column that is null in all of the rows. The suggestion makes items of all of the rows.
 *
 * @param rows some rows, the first ones for instance
 * @param specified the columns that the dataset names itself, if it does; they are kept if they have values
 * @returns null if no column looks like a prompt
 *
 * @example suggestMapping([{ name: 'question', dtype: 'string' }, { name: 'answer', dtype: 'string' }])?.mapping
 * // { promptColumn: 'question', answerColumn: 'answer' }
 */
export function suggestMapping(
  features: readonly MappableFeature[],
  rows: readonly JsonObject[] = [],
  specified: Mapping | null = null,
): Suggestion | null {
  const used = features.filter(({ name, dtype }) => dtype !== 'null' && !isEmpty(name, rows));
  const known = new Set(used.map(({ name }) => name));
  const isKept =
    specified !== null &&
    [specified.promptColumn, specified.answerColumn].every((name) => name === undefined || known.has(name));
  const found = (isKept ? fromDataset(specified, used, rows) : null) ?? suggestFromNames(used, rows);
  return found === null ? null : importable(found, features, rows);
}

/** Without what keeps rows from becoming items; rows without a prompt are skipped. Null if too little is left. */
function importable(
  suggestion: Suggestion,
  features: readonly MappableFeature[],
  rows: readonly JsonObject[],
): Suggestion | null {
  const { promptColumn, promptTemplate } = suggestion.mapping;
  const prompts =
    promptColumn === undefined ? templateColumns(promptTemplate, 'prompt_template') : [promptColumn];
  const asked = rows.filter((row) => prompts.every((name) => (row[name] ?? null) !== null));
  for (const without of [[], ANSWER_KEYS, [...ANSWER_KEYS, ...CHOICE_KEYS]]) {
    const tried = omit(suggestion, without);
    if (canImport(tried.mapping, features, asked)) {
      return asked.length === rows.length ? tried : skipping(tried);
    }
  }
  return null;
}

const ANSWER_KEYS = ['answerIs', 'answerPattern'] as const;
const CHOICE_KEYS = ['choicesColumn', 'choicesColumns', 'defaultType'] as const;

function omit(suggestion: Suggestion, keys: readonly (keyof Mapping)[]): Suggestion {
  const kept = Object.entries(suggestion.mapping).filter(([key]) => !keys.some((one) => one === key));
  const mapping = Object.fromEntries(kept) as Mapping;
  const written = writeMapping(mapping);
  const reasons = Object.entries(suggestion.reasons).filter(([key]) => Object.hasOwn(written, key));
  return { ...suggestion, mapping, reasons: Object.fromEntries(reasons) };
}

function skipping(suggestion: Suggestion): Suggestion {
  return {
    ...suggestion,
    mapping: { ...suggestion.mapping, invalidRows: 'skip' },
    reasons: { ...suggestion.reasons, invalid_rows: 'Some of the first rows have no prompt.' },
  };
}

/** A preview runs in the thread that serves requests: an answer pattern gets some milliseconds for a row. */
const MAX_PATTERN_STEPS = 200_000;

/** Whether rows become items. Files are too large to be tried. */
function canImport(
  { assetsColumn: _, ...mapping }: Mapping,
  features: readonly MappableFeature[],
  rows: readonly JsonObject[],
): boolean {
  const columns = mappedColumns(mapping);
  const known = features.filter(({ name }) => columns.includes(name));
  try {
    const toItem = compileMapping(mapping, known, { maxPatternSteps: MAX_PATTERN_STEPS });
    for (const [index, row] of rows.entries()) {
      toItem(Object.fromEntries(columns.map((name) => [name, row[name] ?? null])), index);
    }
    return true;
  } catch (error) {
    if (error instanceof JsonlError) return false;
    throw error;
  }
}

function isEmpty(name: string, rows: readonly JsonObject[]): boolean {
  return rows.length > 0 && rows.every((row) => (row[name] ?? null) === null);
}

function fromDataset(
  mapping: Mapping,
  features: readonly MappableFeature[],
  rows: readonly JsonObject[],
): Suggestion | null {
  if (!canImport(mapping, features, rows)) return null;
  const { answerColumn } = mapping;
  const reasonFor = (key: string): string =>
    `The dataset names its ${key === 'default_type' ? 'choices' : 'columns'} in eval.yaml.`;
  const keys = Object.keys(writeMapping(mapping));
  const reasons = Object.fromEntries(keys.map((key) => [key, reasonFor(key)]));
  const hasChoices = mapping.choicesColumn !== undefined || mapping.choicesColumns !== undefined;
  // The dataset states the type of its items, or that they have choices.
  if (answerColumn === undefined || (!hasChoices && mapping.defaultType !== undefined)) {
    return { mapping, reasons, warnings: [] };
  }
  const rule = suggestAnswerRule(answerColumn, withChoices(mapping, rows), hasChoices);
  return {
    mapping: { ...mapping, ...rule.mapping },
    reasons: { ...reasons, ...rule.reasons },
    warnings: rule.warnings,
  };
}
