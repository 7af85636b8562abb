/** `@svc/jsonl-v23/mapping`: how the rows of a dataset become items. */
export { type Suggestion, suggestMapping } from '../suggest/suggest-mapping.ts';
export {
  type CompileOptions,
  compileMapping,
  type MappableFeature,
  type RowMapper,
} from './compile-mapping.ts';
export type { AnswerKind, ColumnType, Mapping } from './mapping.ts';
export { readMapping, writeMapping } from './read-mapping.ts';
