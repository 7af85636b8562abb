import { JsonlError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { COLUMN_NAMES, plainName } from './column-names.ts';
import { compileMapping, type MappableFeature } from './compile-mapping.ts';
import { isFileCell } from './file-cell.ts';
import { type Mapping, mappedColumns } from './mapping.ts';
import { writeMapping } from './read-mapping.ts';
import { toItemChoices } from './row-to-item.ts';
import { type AnsweredRow, suggestAnswer, suggestAnswerRule } from './suggest-answer-rule.ts';
import { suggestChoices } from './suggest-choices.ts';
import { suggestPrompt, TEXT } from './suggest-prompt.ts';
import { templateColumns } from './template.ts';

const SCALAR = /^(?:string|large_string|string_view|u?int\d+|bool)$/;

/** A suggested mapping, and why each of its members was chosen. */
export interface Suggestion {
  readonly mapping: Mapping;
  /** Member of the mapping, as requests name it → one sentence. */
  readonly reasons: Readonly<Record<string, string>>;
  /** What a person must decide or know before an import, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Suggests how the columns of a dataset become items: by their names and types, and by the values of the rows. A column
 * that is null in all of the rows is not chosen. What is suggested makes items of all of the rows.
 *
 * @param rows some rows, the first ones for instance
 * @param specified the columns that the dataset names itself, if it does; they are kept if they have values
 * @returns null where no column looks like a prompt
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
  const found = (isKept ? fromDataset(specified, used, rows) : null) ?? fromNames(used, rows);
  return found === null ? null : importable(found, features, rows);
}

/**
 * The suggestion without what keeps rows from becoming items. Rows without a prompt are skipped, because no mapping gives
 * them one. Null where too little is left.
 */
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

/** Whether a cell names a file whose bytes it lacks, which cannot become an asset. */
function isPathOnly(cell: JsonValue | undefined): boolean {
  if (!isJsonObject(cell) || !isFileCell(cell)) return false;
  return cell['bytes'] === null && (cell['path'] ?? null) !== null;
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

/** The rows with the choices that a mapping gives them. */
function withChoices(mapping: Mapping, rows: readonly JsonObject[]): AnsweredRow[] {
  return rows.map((row, index) => {
    try {
      return { row, choices: toItemChoices(mapping, row, index) };
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      return { row, choices: null };
    }
  });
}

type MutableMapping = { -readonly [Name in keyof Mapping]: Mapping[Name] };

function fromNames(features: readonly MappableFeature[], rows: readonly JsonObject[]): Suggestion | null {
  const choices = suggestChoices(features, rows);
  const prompt = suggestPrompt(
    features.filter(({ name }) => choices?.columns.includes(name) !== true),
    rows,
  );
  if (prompt === null) return null;
  const taken = new Set([...(choices?.columns ?? []), ...prompt.columns]);
  const free = (): MappableFeature[] => features.filter(({ name }) => !taken.has(name));
  const reasons: Record<string, string> = { ...prompt.reasons };
  const mapping: MutableMapping = { ...prompt.mapping };
  const warnings: string[] = [...prompt.warnings];
  if (choices !== null) {
    Object.assign(mapping, choices.mapping, { defaultType: 'multiple_choice' });
    reasons[choices.mapping.choicesColumn === undefined ? 'choices_columns' : 'choices_column'] =
      choices.reason;
    reasons['default_type'] = 'The rows have choices.';
  }
  if (choices?.right !== undefined) {
    mapping.answerColumn = choices.right;
    reasons['answer_column'] = `Column ${JSON.stringify(choices.right)} has the name of the right choice.`;
    warnings.push(
      'The right choice is the first one of every item: a model that always picks the first is always right. Mix the columns of choices before you import them.',
    );
  } else {
    const answer = suggestAnswer(free(), withChoices(mapping, rows), choices !== null);
    Object.assign(mapping, answer.mapping);
    Object.assign(reasons, answer.reasons);
    warnings.push(...answer.warnings);
    if (mapping.answerColumn !== undefined) taken.add(mapping.answerColumn);
  }
  const take = (
    key: 'systemPromptColumn' | 'idColumn',
    wanted: readonly string[],
    fits: RegExp,
    use: string,
  ): void => {
    const found = wanted
      .map((name) => free().find((one) => plainName(one.name) === name && fits.test(one.dtype)))
      .find((one) => one !== undefined);
    if (found === undefined) return;
    taken.add(found.name);
    mapping[key] = found.name;
    reasons[key === 'idColumn' ? 'id_column' : 'system_prompt_column'] =
      `Column ${JSON.stringify(found.name)} has the name of ${use}.`;
  };
  take('systemPromptColumn', COLUMN_NAMES.system, TEXT, 'a system prompt');
  take('idColumn', COLUMN_NAMES.id, /^(?:string|large_string|string_view|u?int\d+)$/, 'an id');
  const image = free().find(
    ({ name, dtype }) => dtype === 'image' && rows.every((row) => !isPathOnly(row[name])),
  );
  if (image !== undefined) {
    mapping.assetsColumn = image.name;
    reasons['assets_column'] = `Column ${JSON.stringify(image.name)} holds images.`;
  }
  const named = (wanted: readonly string[]): MappableFeature[] =>
    free().filter(({ name }) => wanted.includes(plainName(name)));
  const criteria = named(COLUMN_NAMES.criteria).map(({ name }) => name);
  if (criteria.length > 0) {
    mapping.criteriaColumns = criteria;
    reasons['criteria_columns'] = 'The names are those of criteria.';
  }
  const meta = named(COLUMN_NAMES.meta).filter(({ dtype }) => SCALAR.test(dtype));
  if (meta.length > 0) {
    mapping.metaColumns = Object.fromEntries(meta.map(({ name }) => [name, name]));
    reasons['meta_columns'] = 'The names are those of facts about an item.';
  }
  return { mapping, reasons, warnings };
}
