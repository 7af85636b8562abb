/** Which column of a dataset becomes which part of an item. */
export interface Mapping {
  promptColumn: string;
  answerColumn?: string;
  /** The `type` of every item; default `freeform`. */
  defaultType?: string;
  metaColumns?: string[];
  criteriaColumns?: string[];
  choicesColumn?: string;
  assetsColumn?: string;
  systemPromptColumn?: string;
  idColumn?: string;
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
    ...(mapping.metaColumns ?? []),
  ];
  return [...new Set(columns.filter((column) => column !== undefined))];
}
