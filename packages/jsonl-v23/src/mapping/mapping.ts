import { JsonlError } from '../errors.ts';
import { canonicalByteLength } from '../json/canonical/canonical-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { jsonPointer } from '../source-location.ts';
import { parseTemplate, templateColumns } from './template.ts';

/** Characters of an answer pattern: a longer one is probably a mistake or an attack. */
export const MAX_PATTERN_LENGTH = 500;

/** A type that a mapping may give to a column, in place of the inferred one. */
export type ColumnType = 'string' | 'int64' | 'float64' | 'bool' | 'json';

/** What the answer's column holds: the answer itself, or how it names a choice: an index from 0, a number from 1. */
export type AnswerKind = 'text' | 'index' | 'letter' | 'label' | 'number';

/** Each kind of answer, with what it is, for people. */
export const ANSWER_KINDS: Readonly<Record<AnswerKind, string>> = {
  text: 'its text',
  index: 'the place of a choice, from 0',
  letter: 'the letter of a choice',
  label: 'the label of a choice',
  number: 'the place of a choice, from 1',
};

/** Which column of a dataset becomes which part of an item. It must have a prompt column or a prompt template. */
export interface Mapping {
  readonly promptColumn?: string;
  /** Text with `{column}` placeholders; `{{` is a brace. */
  readonly promptTemplate?: string;
  readonly answerColumn?: string;
  /** A pattern in RE2 syntax, whose first group is taken from the answer's text. */
  readonly answerPattern?: string;
  /** Default `text`. */
  readonly answerIs?: AnswerKind;
  /** The `type` of every item; default `freeform`. */
  readonly defaultType?: string;
  /** Column with the items' types; the default type applies if it is null or empty. */
  readonly typeColumn?: string;
  /** Key in `meta` → column; column names alone stand for keys of the same names. */
  readonly metaColumns?: readonly string[] | Readonly<Record<string, string>>;
  readonly criteriaColumns?: string[];
  readonly choicesColumn?: string;
  /** Columns with one choice each. */
  readonly choicesColumns?: readonly string[];
  readonly assetsColumn?: string;
  readonly systemPromptColumn?: string;
  readonly systemPromptTemplate?: string;
  readonly idColumn?: string;
  readonly tagsColumns?: readonly string[];
  /** The `checker` of every item: an object or the name of a checker. */
  readonly checker?: JsonValue;
  /** Column with the items' checkers, as objects, JSON or names; `checker` applies if it is null or empty. */
  readonly checkerColumn?: string;
  /** Whether the columns that no other member names are kept in `meta`, under their names. */
  readonly keepUnmapped?: boolean;
  /** Tags of every item, before the tags of columns. */
  readonly tags?: readonly string[];
  /** Column → type, which overrides inference. */
  readonly types?: Readonly<Record<string, ColumnType>>;
  /** What to do with rows that do not become items; default `fail`. */
  readonly invalidRows?: 'fail' | 'skip';
}

/** A suggested mapping, and why each of its members was chosen. */
export interface Suggestion {
  readonly mapping: Mapping;
  /** Member of the mapping, as requests name it → one sentence. */
  readonly reasons: Readonly<Record<string, string>>;
  /** What a person must decide or know before an import, one sentence each. */
  readonly warnings: readonly string[];
}

export interface SuggestedPart extends Suggestion {
  readonly columns: readonly string[];
}

export function metaEntries({ metaColumns = [] }: Mapping): [key: string, column: string][] {
  if (!Array.isArray(metaColumns)) return Object.entries(metaColumns);
  return [...new Set<string>(metaColumns)].map((column) => [column, column]);
}

/** A place where a mapping uses a column. */
export interface ColumnUse {
  /** Name of the member in requests. */
  readonly key: string;
  readonly column: string;
  /** JSON Pointer in the body of an import request. */
  readonly path: string;
}

/**
 * The places of a mapping at which items get the value of a column, in the order of the columns that are read.
 *
 * @throws JsonlError `invalid_mapping` for a template that is not well formed
 */
export function columnUses(mapping: Mapping): ColumnUse[] {
  const { metaColumns = [] } = mapping;
  const places: Readonly<Record<string, string | Readonly<Record<string, string>> | readonly string[]>> = {
    prompt_column: mapping.promptColumn ?? [],
    answer_column: mapping.answerColumn ?? [],
    system_prompt_column: mapping.systemPromptColumn ?? [],
    choices_column: mapping.choicesColumn ?? [],
    assets_column: mapping.assetsColumn ?? [],
    id_column: mapping.idColumn ?? [],
    criteria_columns: mapping.criteriaColumns ?? [],
    meta_columns: Array.isArray(metaColumns) ? [...new Set<string>(metaColumns)] : metaColumns,
    prompt_template: templateColumns(mapping.promptTemplate, 'prompt_template'),
    system_prompt_template: templateColumns(mapping.systemPromptTemplate, 'system_prompt_template'),
    choices_columns: mapping.choicesColumns ?? [],
    type_column: mapping.typeColumn ?? [],
    checker_column: mapping.checkerColumn ?? [],
    tags_columns: mapping.tagsColumns ?? [],
  };
  return Object.entries(places).flatMap(([key, held]) => {
    const isWhole = typeof held === 'string' || key.endsWith('_template');
    const columns = typeof held === 'string' ? [held] : held;
    return Object.entries(columns).map(([step, column]) => {
      return { key, column, path: jsonPointer(['mapping', key, ...(isWhole ? [] : [step])]) };
    });
  });
}

/**
 * The mapping with the columns of a table that it keeps in `meta`, in place of the rule that keeps them. `_2`, `_3` and
 * so on follow a key that another column has.
 *
 * @throws as {@link columnUses}
 */
export function withUnmapped(mapping: Mapping, columns: readonly string[]): Mapping {
  const { keepUnmapped = false, ...rest } = mapping;
  if (!keepUnmapped) return rest;
  const named = new Set(mappedColumns(rest));
  const meta = new Map(metaEntries(rest));
  for (const column of columns) {
    if (named.has(column)) continue;
    let key = column;
    for (let n = 2; meta.has(key); n += 1) key = `${column}_${n}`;
    meta.set(key, column);
  }
  // `__proto__` is a name like any other.
  return { ...rest, metaColumns: Object.fromEntries(meta) };
}

/** The columns that a mapping reads, each once. @throws as {@link columnUses} */
export function mappedColumns(mapping: Mapping): string[] {
  return [...new Set(columnUses(mapping).map(({ column }) => column))];
}

/** Every item repeats the constants of its mapping, so a few rows would become gigabytes. */
const MAX_CONSTANT_BYTES: number = 64 * 1024;
/** Every place repeats the cell. No prompt repeats one value as often; different columns are not limited by it. */
const MAX_COLUMN_PLACES = 20;

export function checkMappingBounds(mapping: Mapping): void {
  const constants = constantBytes(mapping);
  const total = Object.values(constants).reduce((sum, bytes) => sum + bytes, 0);
  if (total > MAX_CONSTANT_BYTES) {
    const [key = '', bytes] = Object.entries(constants).sort(([, a], [, b]) => b - a)[0] ?? [];
    const message = `The constants of a mapping must have at most ${MAX_CONSTANT_BYTES} bytes together, got ${total} (${key} has ${bytes})`;
    throw new JsonlError('invalid_mapping', message, { path: jsonPointer(['mapping', key]) });
  }
  const places = new Map<string, number>();
  for (const { key, column } of columnUses(mapping)) {
    const count = (places.get(column) ?? 0) + 1;
    places.set(column, count);
    if (count <= MAX_COLUMN_PLACES) continue;
    const name = JSON.stringify(column.slice(0, 100));
    const message = `A mapping must use a column in at most ${MAX_COLUMN_PLACES} places, got more for ${name}`;
    throw new JsonlError('invalid_mapping', message, { path: jsonPointer(['mapping', key]) });
  }
}

/** By key in requests. Keys of `meta` with the names of their columns do not count: they come from the table. */
function constantBytes(mapping: Mapping): Readonly<Record<string, number>> {
  const { checker = null, tags = [], defaultType } = mapping;
  const keys = metaEntries(mapping).filter(([key, column]) => key !== column);
  return {
    checker: checker === null ? 0 : canonicalByteLength(checker),
    tags: tags.length === 0 ? 0 : canonicalByteLength(tags),
    default_type: defaultType === undefined ? 0 : canonicalByteLength(defaultType),
    prompt_template: templateBytes(mapping.promptTemplate, 'prompt_template'),
    system_prompt_template: templateBytes(mapping.systemPromptTemplate, 'system_prompt_template'),
    meta_columns: keys.reduce((sum, [key]) => sum + canonicalByteLength(key), 0),
  };
}

/** Bytes of the texts of a template as they are in an item. */
export function templateBytes(template: string | undefined, key: string): number {
  return template === undefined ? 0 : canonicalByteLength(parseTemplate(template, key).texts.join('')) - 2;
}
