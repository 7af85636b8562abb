/** `@svc/jsonl-v23/mapping`: how the rows of a dataset become items. */

export { NULL_WORDS } from './mapping/cast-cell.ts';
export {
  choiceContent,
  choiceLabel,
  choicesOf,
  type LabelledChoice,
  type LabelledChoices,
  labelledChoices,
  readChoices,
} from './mapping/choices.ts';
export {
  type CompileOptions,
  compileMapping,
  type MappableFeature,
  type RowMapper,
} from './mapping/compile-mapping.ts';
export { embeddedEntry, isFileCell } from './mapping/file-cell.ts';
export {
  ANSWER_KINDS,
  type AnswerKind,
  type ColumnType,
  type ColumnUse,
  columnUses,
  type Mapping,
  mappedColumns,
  type Suggestion,
  withUnmapped,
} from './mapping/mapping.ts';
export { MAPPING_SCHEMA, readMapping, writeMapping } from './mapping/read-mapping.ts';
export { isConversation } from './mapping/row-to-item.ts';
export { suggestFromNames } from './mapping/suggest-from-names.ts';
export { suggestMapping } from './mapping/suggest-mapping.ts';
