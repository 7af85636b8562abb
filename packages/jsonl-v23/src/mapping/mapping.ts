import type { JsonValue } from '../json/json-value.ts';
import { templateColumns } from './template.ts';

/** A type that a mapping may give to a column, in place of the inferred one. */
export type ColumnType = 'string' | 'int64' | 'float64' | 'bool' | 'json';

/** What the answer's column holds: the answer itself, or the position or the letter of a choice. */
export type AnswerKind = 'text' | 'index' | 'letter';

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
  /** Column with the items' types; where it is null or empty, the default type. */
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
  /** Tags of every item, before those of columns. */
  readonly tags?: readonly string[];
  /** Column → type, which overrides inference. */
  readonly types?: Readonly<Record<string, ColumnType>>;
  /** What to do with rows that do not become items; default `fail`. */
  readonly invalidRows?: 'fail' | 'skip';
}

const MEMBERS: Readonly<Record<keyof Mapping, true>> = {
  promptColumn: true,
  promptTemplate: true,
  answerColumn: true,
  answerPattern: true,
  answerIs: true,
  defaultType: true,
  typeColumn: true,
  metaColumns: true,
  criteriaColumns: true,
  choicesColumn: true,
  choicesColumns: true,
  assetsColumn: true,
  systemPromptColumn: true,
  systemPromptTemplate: true,
  idColumn: true,
  tagsColumns: true,
  checker: true,
  tags: true,
  types: true,
  invalidRows: true,
};

/** The members of a mapping that it does not have: a misspelt one, or `prompt_column` for `promptColumn`. */
export function unknownMembers(mapping: object): string[] {
  return Object.keys(mapping).filter((key) => !Object.hasOwn(MEMBERS, key));
}

/** The keys of `meta`, each with its column. */
export function metaEntries({ metaColumns = [] }: Mapping): [key: string, column: string][] {
  if (!Array.isArray(metaColumns)) return Object.entries(metaColumns);
  return [...new Set<string>(metaColumns)].map((column) => [column, column]);
}

/**
 * The columns that a mapping reads, each once.
 *
 * @throws JsonlError `invalid_mapping` for a template that is not well formed
 */
export function mappedColumns(mapping: Mapping): string[] {
  const columns = [
    mapping.promptColumn,
    mapping.answerColumn,
    mapping.systemPromptColumn,
    mapping.choicesColumn,
    mapping.assetsColumn,
    mapping.idColumn,
    ...(mapping.criteriaColumns ?? []),
    ...metaEntries(mapping).map(([, column]) => column),
    ...templateColumns(mapping.promptTemplate, 'prompt_template'),
    ...templateColumns(mapping.systemPromptTemplate, 'system_prompt_template'),
    ...(mapping.choicesColumns ?? []),
    mapping.typeColumn,
    ...(mapping.tagsColumns ?? []),
  ];
  return [...new Set(columns.filter((column) => column !== undefined))];
}
