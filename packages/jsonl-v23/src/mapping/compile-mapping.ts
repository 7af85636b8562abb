import { JsonlError } from '../errors.ts';
import type { Item } from '../item/item.ts';
import { parseItem } from '../item/parse-item.ts';
import { isDeeper, type JsonObject, type JsonValue, setMember } from '../json/json-value.ts';
import { DEFAULT_MAX_DEPTH } from '../json/parse-json.ts';
import { checkNumber } from '../options.ts';
import { compileAnswerPattern } from './answer-pattern.ts';
import { castCell } from './cast-cell.ts';
import { type ColumnType, type Mapping, mappedColumns, metaEntries, withUnmapped } from './mapping.ts';
import { checkMapping } from './read-mapping.ts';
import { type CompiledMapping, rowToItem } from './row-to-item.ts';
import { parseTemplate } from './template.ts';

/** What a mapping needs to know about a column of a dataset. */
export interface MappableFeature {
  readonly name: string;
  readonly dtype: string;
  readonly classLabelNames?: readonly string[];
}

/**
 * Maps a row to an item. `rowIndex` is 0-based in the split; `split` overrides the split of `compileMapping`, for rows
 * of several splits; an id that is made of the index adds `idOffset`, for rows that follow others.
 */
export type RowMapper = (row: JsonObject, rowIndex: number, split?: string, idOffset?: number) => Item;

/** Options of `compileMapping`. */
export interface CompileOptions {
  /** Default `train`. */
  readonly split?: string;
  /** Instructions of the answer pattern times characters of an answer; default 20 million. */
  readonly maxPatternSteps?: number;
}

/**
 * Checks a mapping, against the columns of a dataset if they are given, and returns the function that maps rows to items.
 *
 * A row is a JSON object of its cells. Prompt: a string, else a list of `{role, content}` becomes
 * `inputs.messages`, else JSON text. A null cell leaves its key out, but in the prompt column or the prompt template it
 * is an error. Without an id column an item's id is `<split>-<row index>`; `split` is `train` unless it is given.
 *
 * The returned function throws with `location.row`: `column_not_found`, `assets_not_object`, and `invalid_row` for a null
 * prompt or a row that does not map to a valid item (see its cause).
 *
 * @throws JsonlError `invalid_mapping` (an empty name, an unknown member, a template or a pattern that cannot be used,
 *   constants over 64 KiB, a column in more than 20 places),
 *   `column_not_found`; TypeError, RangeError for an option that does not exist or cannot be
 *
 * @example
 * const toItem = compileMapping({ promptColumn: 'question', answerColumn: 'answer' }, features, { split: 'test' });
 * toItem({ question: '2+2?', answer: '4' }, 0);
 * // { id: 'test-0', type: 'freeform', inputs: { prompt: '2+2?' }, answer: '4' }
 */
export function compileMapping(
  given: Mapping,
  features?: readonly MappableFeature[] | null,
  options: CompileOptions = {},
): RowMapper {
  checkNumber('maxPatternSteps', options.maxPatternSteps, { min: 1 });
  const { split: defaultSplit = 'train', maxPatternSteps } = options;
  if (typeof defaultSplit !== 'string')
    throw new TypeError(`split must be a string, got ${typeof defaultSplit}.`);
  if (features && !Array.isArray(features))
    throw new TypeError(`features must be an array, got ${typeof features}.`);
  checkMapping(given);
  if (given.keepUnmapped === true && !features) {
    throw new JsonlError('invalid_mapping', 'A mapping with keepUnmapped needs the features of the table');
  }
  const mapping = withUnmapped(given, features?.map(({ name }) => name) ?? []);
  const columns = mappedColumns(mapping);
  const known = features ? new Set(features.map(({ name }) => name)) : null;
  for (const column of [...columns, ...Object.keys(mapping.types ?? {})]) {
    // A table may have a column without a name, which `keepUnmapped` keeps.
    if (column === '' && known?.has('') !== true) {
      throw new JsonlError('invalid_mapping', 'Column names in a mapping must not be empty');
    }
    if (known?.has(column) === false) throw columnNotFound(column);
  }
  const compiled = compile(mapping, maxPatternSteps);
  const types = Object.entries(mapping.types ?? {}).filter(([column]) => columns.includes(column));

  return (row, rowIndex, split = defaultSplit, idOffset = 0) => {
    for (const column of columns) {
      if (!Object.hasOwn(row, column)) throw columnNotFound(column, rowIndex);
    }
    const madeId = `${split}-${rowIndex + idOffset}`;
    const item = rowToItem(compiled, castRow(row, types, rowIndex), rowIndex, madeId);
    checkDepth(item, rowIndex);
    try {
      return parseItem(item, { row: rowIndex });
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      const message = `Row ${rowIndex} does not map to a valid item: ${error.message}`;
      throw new JsonlError('invalid_row', message, error.location, { cause: error });
    }
  };
}

function compile(mapping: Mapping, maxPatternSteps: number | undefined): CompiledMapping {
  const { promptTemplate, systemPromptTemplate, answerPattern } = mapping;
  return {
    mapping,
    meta: metaEntries(mapping),
    promptTemplate: promptTemplate === undefined ? null : parseTemplate(promptTemplate, 'prompt_template'),
    systemPromptTemplate:
      systemPromptTemplate === undefined
        ? null
        : parseTemplate(systemPromptTemplate, 'system_prompt_template'),
    answerPattern: answerPattern === undefined ? null : compileAnswerPattern(answerPattern, maxPatternSteps),
  };
}

function castRow(
  row: JsonObject,
  types: readonly (readonly [string, ColumnType])[],
  rowIndex: number,
): JsonObject {
  if (types.length === 0) return row;
  const typed: JsonObject = { ...row };
  for (const [column, type] of types) {
    setMember(typed, column, castCell(column, type, row[column] as JsonValue, rowIndex));
  }
  return typed;
}

/** An item nested deeper than readers accept could be exported, but not read again. */
function checkDepth(item: JsonObject, row: number): void {
  if (!isDeeper(item, DEFAULT_MAX_DEPTH)) return;
  const message = `Row ${row} is nested more than ${DEFAULT_MAX_DEPTH} levels deep`;
  throw new JsonlError('invalid_row', message, { row });
}

function columnNotFound(column: string, row?: number): JsonlError {
  const message = `Column ${column} not found in dataset row`;
  return new JsonlError('column_not_found', message, row === undefined ? {} : { row });
}
