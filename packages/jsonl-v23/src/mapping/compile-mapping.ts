import { JsonlError } from '../errors.ts';
import { DEFAULT_ITEM_TYPE } from '../item/encode-item.ts';
import type { Item } from '../item/item.ts';
import { parseItem } from '../item/parse-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { DEFAULT_MAX_DEPTH } from '../json/parse-json.ts';
import { jsonPointer } from '../source-location.ts';
import { toAssets } from './asset-cell.ts';
import { toChoices } from './choices.ts';
import { type Mapping, mappedColumns, metaEntries, unknownMembers } from './mapping.ts';

/** What a mapping needs to know about a column of a dataset. */
export interface MappableFeature {
  readonly name: string;
  readonly dtype: string;
  readonly classLabelNames?: readonly string[];
}

/**
 * Maps a row to an item. `rowIndex` is 0-based in the split; `split` overrides that of `compileMapping`, for rows of
 * several splits.
 */
export type RowMapper = (row: JsonObject, rowIndex: number, split?: string) => Item;

/**
 * Checks a mapping against the columns of a dataset and returns the function that maps rows to items.
 *
 * A row is a JSON object of its cells. Prompt: a string, else a list of `{role, content}` becomes
 * `inputs.messages`, else JSON text. A null cell leaves its key out, but in the prompt column it is an error.
 * Without an id column an item's id is `<split>-<row index>`; `split` is `train` unless it is given.
 *
 * The returned function throws with `location.row`: `column_not_found`, `assets_not_object`, and `invalid_row` for a null
 * prompt or a row that does not map to a valid item (see its cause).
 *
 * @throws JsonlError `invalid_mapping` (an empty name, an unknown member), `column_not_found`
 *
 * @example
 * const toItem = compileMapping({ promptColumn: 'question', answerColumn: 'answer' }, features, { split: 'test' });
 * toItem({ question: '2+2?', answer: '4' }, 0);
 * // { id: 'test-0', type: 'freeform', inputs: { prompt: '2+2?' }, answer: '4' }
 */
export function compileMapping(
  mapping: Mapping,
  features: readonly MappableFeature[],
  options: { split?: string } = {},
): RowMapper {
  const [unknown] = unknownMembers(mapping);
  if (unknown !== undefined) {
    throw new JsonlError('invalid_mapping', `A mapping must not have the member ${JSON.stringify(unknown)}`);
  }
  if (typeof mapping.promptColumn !== 'string') {
    throw new JsonlError('invalid_mapping', 'A mapping must have a promptColumn');
  }
  const columns = mappedColumns(mapping);
  const known = new Set(features.map(({ name }) => name));
  for (const column of columns) {
    if (column === '') throw new JsonlError('invalid_mapping', 'Column names in a mapping must not be empty');
    if (!known.has(column)) throw columnNotFound(column);
  }
  const defaultSplit = options.split ?? 'train';

  return (row, rowIndex, split = defaultSplit) => {
    for (const column of columns) {
      if (!Object.hasOwn(row, column)) throw columnNotFound(column, rowIndex);
    }
    const item = toItem(mapping, row, rowIndex, split);
    checkDepth(item, rowIndex);
    try {
      return parseItem(item, { row: rowIndex });
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      throw new JsonlError(
        'invalid_row',
        `Row ${rowIndex} does not map to a valid item: ${error.message}`,
        error.location,
        {
          cause: error,
        },
      );
    }
  };
}

function toItem(mapping: Mapping, row: JsonObject, rowIndex: number, split: string): Item {
  const cell = (column: string | undefined): JsonValue =>
    column === undefined ? null : (row[column] as JsonValue);
  const item: Item = {};

  const id = mapping.idColumn === undefined ? `${split}-${rowIndex}` : toId(cell(mapping.idColumn));
  if (id !== null) item['id'] = id;
  item['type'] = mapping.defaultType ?? DEFAULT_ITEM_TYPE;
  item['inputs'] = toInputs(mapping, row, rowIndex);

  const answer = cell(mapping.answerColumn);
  if (answer !== null) item['answer'] = answer;

  const criteria = toCriteria((mapping.criteriaColumns ?? []).map(cell));
  if (criteria !== null) item['criteria'] = criteria;

  if (mapping.assetsColumn !== undefined) {
    const assets = toAssets(mapping.assetsColumn, cell(mapping.assetsColumn), rowIndex);
    if (assets !== null) item['assets'] = assets;
  }

  const meta: JsonObject = {};
  for (const [key, column] of metaEntries(mapping)) {
    const value = cell(column);
    if (value !== null) setMember(meta, key, value);
  }
  if (Object.keys(meta).length > 0) item['meta'] = meta;
  return item;
}

function toInputs(mapping: Mapping, row: JsonObject, rowIndex: number): JsonObject {
  const inputs: JsonObject = {};
  const prompt = row[mapping.promptColumn] as JsonValue;
  if (prompt === null) {
    throw new JsonlError('invalid_row', `Column ${mapping.promptColumn} is null in dataset row ${rowIndex}`, {
      row: rowIndex,
    });
  }
  if (isConversation(prompt)) inputs['messages'] = prompt;
  else inputs['prompt'] = toText(prompt);

  if (mapping.systemPromptColumn !== undefined) {
    const systemPrompt = row[mapping.systemPromptColumn] as JsonValue;
    if (systemPrompt !== null) inputs['system_prompt'] = toText(systemPrompt);
  }

  if (mapping.choicesColumn !== undefined) {
    const value = row[mapping.choicesColumn] as JsonValue;
    const choices = value === null ? null : toChoices(value);
    if (choices !== null) inputs['choices'] = choices;
    else if (value !== null) {
      throw new JsonlError(
        'invalid_row',
        `Column ${mapping.choicesColumn} must hold two or more arrays of equal length when it holds an object, in dataset row ${rowIndex}`,
        { row: rowIndex, path: jsonPointer([mapping.choicesColumn]) },
      );
    }
  }
  return inputs;
}

/** A list of `{role, content}` that is not empty. */
function isConversation(value: JsonValue): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (message) =>
      isJsonObject(message) &&
      typeof getMember(message, 'role') === 'string' &&
      Object.hasOwn(message, 'content'),
  );
}

function toText(value: JsonValue): string {
  return typeof value === 'string' ? value : canonicalJson(value);
}

/** An id is a string or an integer; anything else is kept as its JSON text. */
function toId(value: JsonValue): JsonValue {
  if (value === null || Number.isInteger(value)) return value;
  if (value instanceof ExactNumber && !value.text.includes('.')) return value;
  return toText(value);
}

/** A criterion is a string or an object; other values are kept as their JSON text. Null when no column has a value. */
function toCriteria(cells: readonly JsonValue[]): JsonValue[] | null {
  if (cells.every((cell) => cell === null)) return null;
  return cells
    .flat()
    .filter((value) => value !== null)
    .map((value) => (isJsonObject(value) ? value : toText(value)));
}

/** An item nested deeper than readers accept could be exported, but not read again. */
function checkDepth(item: Item, rowIndex: number): void {
  if (isDeeper(item, DEFAULT_MAX_DEPTH)) {
    throw new JsonlError(
      'invalid_row',
      `Row ${rowIndex} is nested more than ${DEFAULT_MAX_DEPTH} levels deep`,
      {
        row: rowIndex,
      },
    );
  }
}

function isDeeper(value: JsonValue, depthLeft: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return false;
  if (depthLeft === 0) return true;
  const members = Array.isArray(value) ? value : Object.values(value);
  return members.some((member) => isDeeper(member, depthLeft - 1));
}

function columnNotFound(column: string, row?: number): JsonlError {
  return new JsonlError(
    'column_not_found',
    `Column ${column} not found in dataset row`,
    row === undefined ? {} : { row },
  );
}
