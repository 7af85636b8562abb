import { JsonlError } from '../errors.ts';
import { DEFAULT_ITEM_TYPE } from '../item/encode-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { tryParseJson } from '../json/parse-json.ts';
import { jsonPointer } from '../source-location.ts';
import type { AnswerPattern } from './answer-pattern.ts';
import { chooseAnswer, toChoices } from './choices.ts';
import { toAssets } from './file-cell.ts';
import type { Mapping } from './mapping.ts';
import { fillTemplate, type Template } from './template.ts';

export interface CompiledMapping {
  readonly mapping: Mapping;
  readonly meta: readonly (readonly [key: string, column: string])[];
  readonly promptTemplate: Template | null;
  readonly systemPromptTemplate: Template | null;
  readonly answerPattern: AnswerPattern | null;
}

/** The item of a row that has all mapped columns, before it is checked. @param madeId its id without an id column */
export function rowToItem(
  compiled: CompiledMapping,
  row: JsonObject,
  rowIndex: number,
  madeId: string,
): JsonObject {
  const { mapping, meta } = compiled;
  const cell = (column: string | undefined): JsonValue =>
    column === undefined ? null : (row[column] as JsonValue);
  const item: JsonObject = {};

  const id = mapping.idColumn === undefined ? madeId : toId(cell(mapping.idColumn));
  if (id !== null) item['id'] = id;
  item['type'] = toType(cell(mapping.typeColumn)) ?? mapping.defaultType ?? DEFAULT_ITEM_TYPE;
  const choices = toItemChoices(mapping, row, rowIndex);
  item['inputs'] = toInputs(compiled, choices, row, rowIndex);

  const answer = toAnswer(compiled, cell(mapping.answerColumn), choices, rowIndex);
  if (answer !== null) item['answer'] = answer;

  const criteria = toCriteria((mapping.criteriaColumns ?? []).map(cell));
  if (criteria !== null) item['criteria'] = criteria;
  const checker = toChecker(mapping.checkerColumn, cell(mapping.checkerColumn), rowIndex) ?? mapping.checker;
  if (checker !== undefined && checker !== null) item['checker'] = checker;

  if (mapping.assetsColumn !== undefined) {
    const assets = toAssets(mapping.assetsColumn, cell(mapping.assetsColumn), rowIndex);
    if (assets !== null) item['assets'] = assets;
  }

  const members: JsonObject = {};
  for (const [key, column] of meta) {
    const value = cell(column);
    if (value !== null) setMember(members, key, value);
  }
  if (Object.keys(members).length > 0) item['meta'] = members;

  const tags = [
    ...(mapping.tags ?? []),
    ...(mapping.tagsColumns ?? []).flatMap((name) => toTags(cell(name))),
  ];
  if (tags.length > 0) item['tags'] = [...new Set(tags)];
  return item;
}

function toInputs(
  { mapping, promptTemplate, systemPromptTemplate }: CompiledMapping,
  choices: JsonValue[] | null,
  row: JsonObject,
  rowIndex: number,
): JsonObject {
  const textOf = (column: string): string | null => {
    const value = row[column] as JsonValue;
    return value === null ? null : toText(value);
  };
  const inputs: JsonObject = {};
  const prompt =
    promptTemplate === null
      ? (row[mapping.promptColumn as string] as JsonValue)
      : fillTemplate(promptTemplate, textOf, rowIndex);
  if (prompt === null) {
    const column =
      promptTemplate === null
        ? mapping.promptColumn
        : promptTemplate.columns.find((name) => row[name] === null);
    throw invalidRow(`Column ${column} is null in dataset row ${rowIndex}`, rowIndex);
  }
  if (isConversation(prompt)) inputs['messages'] = prompt;
  else inputs['prompt'] = toText(prompt);

  const systemPrompt =
    systemPromptTemplate !== null
      ? fillTemplate(systemPromptTemplate, textOf, rowIndex)
      : mapping.systemPromptColumn === undefined
        ? null
        : textOf(mapping.systemPromptColumn);
  if (systemPrompt !== null) inputs['system_prompt'] = systemPrompt;
  if (choices !== null) inputs['choices'] = choices;
  return inputs;
}

/** The choices of a row; null if it has none. @throws JsonlError `invalid_row` */
export function toItemChoices(mapping: Mapping, row: JsonObject, rowIndex: number): JsonValue[] | null {
  const { choicesColumn, choicesColumns } = mapping;
  if (choicesColumns !== undefined && choicesColumns.length > 0) {
    const cells = choicesColumns.map((column) => row[column] as JsonValue);
    // A question with fewer choices leaves the last columns empty; a gap would move the letters.
    const count = cells.findLastIndex((cell) => cell !== null && cell !== '') + 1;
    const gap = cells.slice(0, count).indexOf(null);
    if (gap !== -1) {
      throw invalidRow(
        `Column ${choicesColumns[gap]} is null before other choices in dataset row ${rowIndex}`,
        rowIndex,
      );
    }
    return count === 0 ? null : cells.slice(0, count);
  }
  if (choicesColumn === undefined) return null;
  const value = row[choicesColumn] as JsonValue;
  if (value === null) return null;
  const choices = toChoices(value);
  if (choices !== null) return choices;
  throw new JsonlError(
    'invalid_row',
    `Column ${choicesColumn} must hold labels with texts, or two or more arrays of equal length, when it holds an object, in dataset row ${rowIndex}`,
    { row: rowIndex, path: jsonPointer([choicesColumn]) },
  );
}

function toAnswer(
  { mapping, answerPattern }: CompiledMapping,
  cell: JsonValue,
  choices: readonly JsonValue[] | null,
  rowIndex: number,
): JsonValue {
  if (cell === null) return null;
  const answer = answerPattern === null ? cell : answerPattern(toText(cell), rowIndex);
  if (answer === null) {
    throw invalidRow(`The answer pattern does not match in dataset row ${rowIndex}`, rowIndex);
  }
  const { answerIs = 'text' } = mapping;
  if (answerIs === 'text') return answer;
  // An empty cell names no choice, as a null does not: hidden answers of test splits.
  if (answer === '') return null;
  const choice = chooseAnswer(answerIs, answer, choices ?? []);
  if (choice !== undefined) return choice;
  const shown = toText(answer).slice(0, 100);
  const message = `The answer ${JSON.stringify(shown)} is the ${answerIs} of none of the ${choices?.length ?? 0} choices in dataset row ${rowIndex}`;
  throw invalidRow(message, rowIndex);
}

/** A list of `{role, content}` that is not empty. */
export function isConversation(value: JsonValue): boolean {
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

function toType(value: JsonValue): string | null {
  return value === null || value === '' ? null : toText(value);
}

/** The checker of a row: an object, a text that is one in JSON, or the name of a checker. Null for an empty cell. */
function toChecker(column: string | undefined, cell: JsonValue, row: number): JsonValue {
  if (column === undefined || cell === null || cell === '' || isJsonObject(cell)) return cell || null;
  if (typeof cell === 'string') {
    if (!/^[ \t\r\n]*\{/.test(cell)) return cell;
    const value = tryParseJson(cell);
    if (isJsonObject(value)) return value;
  }
  const message = `Column ${column} must hold an object, JSON of one, or the name of a checker, in dataset row ${row}`;
  throw new JsonlError('invalid_row', message, { row, path: jsonPointer([column]) });
}

/** A criterion is a string or an object; other values are kept as their JSON text. Null if no column has a value. */
function toCriteria(cells: readonly JsonValue[]): JsonValue[] | null {
  if (cells.every((cell) => cell === null)) return null;
  return cells
    .flat()
    .filter((value) => value !== null)
    .map((value) => (isJsonObject(value) ? value : toText(value)));
}

/** The tags in a cell: the values of a list, else the one value; an empty text is none. */
function toTags(cell: JsonValue): string[] {
  return [cell]
    .flat()
    .filter((value) => value !== null && value !== '')
    .map(toText);
}

function invalidRow(message: string, row: number): JsonlError {
  return new JsonlError('invalid_row', message, { row });
}
