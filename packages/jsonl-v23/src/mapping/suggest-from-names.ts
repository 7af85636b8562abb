import { JsonlError } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { COLUMN_NAMES, plainName } from './column-names.ts';
import type { MappableFeature } from './compile-mapping.ts';
import { isFileCell } from './file-cell.ts';
import type { Mapping, Suggestion } from './mapping.ts';
import { toItemChoices } from './row-to-item.ts';
import { type AnsweredRow, suggestAnswer } from './suggest-answer-rule.ts';
import { suggestChoices } from './suggest-choices.ts';
import { suggestPrompt, TEXT } from './suggest-prompt.ts';

const SCALAR = /^(?:string|large_string|string_view|u?int\d+|bool)$/;

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
  const add = (part: Suggestion): void => {
    Object.assign(mapping, part.mapping);
    Object.assign(reasons, part.reasons);
    warnings.push(...part.warnings);
  };
  if (choices !== null) add(choices);
  if (mapping.answerColumn === undefined) {
    add(suggestAnswer(free(), withChoices(mapping, rows), choices !== null));
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
