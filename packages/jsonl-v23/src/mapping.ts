/** `@svc/jsonl-v23/mapping`: how the rows of a dataset become items. */

export {
  type CompileOptions,
  compileMapping,
  type MappableFeature,
  type RowMapper,
} from './mapping/compile-mapping.ts';
export type { AnswerKind, ColumnType, Mapping, Suggestion } from './mapping/mapping.ts';
export { readMapping, writeMapping } from './mapping/read-mapping.ts';
export { suggestMapping } from './mapping/suggest-mapping.ts';
