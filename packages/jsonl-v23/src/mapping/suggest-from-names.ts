import { JsonlError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { COLUMN_NAMES, plainName } from './column-names.ts';
import type { MappableFeature } from './compile-mapping.ts';
import { isFileCell } from './file-cell.ts';
import type { Mapping } from './mapping.ts';
import { toItemChoices } from './row-to-item.ts';
import { type AnsweredRow, suggestAnswer } from './suggest-answer-rule.ts';
import { suggestChoices } from './suggest-choices.ts';
import { suggestPrompt, TEXT } from './suggest-prompt.ts';

const SCALAR = /^(?:string|large_string|string_view|u?int\d+|bool)$/;

/** A suggested mapping, and why each of its members was chosen. */
export interface Suggestion {
  readonly mapping: Mapping;
  /** Member of the mapping, as requests name it → one sentence. */
  readonly reasons: Readonly<Record<string, string>>;
  /** What a person must decide or know before an import, one sentence each. */
  readonly warnings: readonly string[];
}

type MutableMapping = { -readonly [Name in keyof Mapping]: Mapping[Name] };

/**
 * Suggests by the names and types of columns. It does not try whether rows become items: that takes an engine for
 * patterns, larger than all else.
 */
export function suggestFromNames(
  features: readonly MappableFeature[],
  rows: readonly JsonObject[] = [],
): Suggestion | null {
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

/** Whether a cell names a file whose bytes it lacks, which cannot become an asset. */
function isPathOnly(cell: JsonValue | undefined): boolean {
  if (!isJsonObject(cell) || !isFileCell(cell)) return false;
  return cell['bytes'] === null && (cell['path'] ?? null) !== null;
}

/** The rows with the choices that a mapping gives them. */
export function withChoices(mapping: Mapping, rows: readonly JsonObject[]): AnsweredRow[] {
  return rows.map((row, index) => {
    try {
      return { row, choices: toItemChoices(mapping, row, index) };
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      return { row, choices: null };
    }
  });
}
