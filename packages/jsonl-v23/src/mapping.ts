/** `@svc/jsonl-v23/mapping`: how the rows of a dataset become items. */

export {
  type CompileOptions,
  compileMapping,
  type MappableFeature,
  type RowMapper,
} from './mapping/compile-mapping.ts';
export type { AnswerKind, ColumnType, Mapping } from './mapping/mapping.ts';
export { readMapping, writeMapping } from './mapping/read-mapping.ts';
export type { Suggestion } from './mapping/suggest-from-names.ts';
export { suggestMapping } from './mapping/suggest-mapping.ts';
