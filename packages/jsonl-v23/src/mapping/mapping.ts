/** Which column of a dataset becomes which part of an item. */
export interface Mapping {
  readonly promptColumn: string;
  readonly answerColumn?: string;
  /** The `type` of every item; default `freeform`. */
  readonly defaultType?: string;
  /** Key in `meta` → column; column names alone stand for keys of the same names. */
  readonly metaColumns?: readonly string[] | Readonly<Record<string, string>>;
  readonly criteriaColumns?: string[];
  readonly choicesColumn?: string;
  readonly assetsColumn?: string;
  readonly systemPromptColumn?: string;
  readonly idColumn?: string;
}

const MEMBERS: Readonly<Record<keyof Mapping, true>> = {
  promptColumn: true,
  answerColumn: true,
  defaultType: true,
  metaColumns: true,
  criteriaColumns: true,
  choicesColumn: true,
  assetsColumn: true,
  systemPromptColumn: true,
  idColumn: true,
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

/** The columns that a mapping reads, each once. */
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
  ];
  return [...new Set(columns.filter((column) => column !== undefined))];
}
