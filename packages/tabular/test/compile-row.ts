import { type JsonObject, setMember } from '@svc/jsonl-v23/json';
import { compileCell } from '../src/parquet/cells/cell.ts';
import type { Features } from '../src/schema/features.ts';

/**
 * Compiles the conversion of a whole row of one file.
 *
 * @param features the file's own columns
 * @param columns the columns that the result shall have, null where the file lacks one; default the file's own
 */
export function compileRow(
  features: Features,
  columns: Features = features,
): (row: Readonly<Record<string, unknown>>) => JsonObject {
  const own = new Map(features.map(({ name, feature }) => [name, feature]));
  const converters = columns.map(({ name, feature }) => ({
    name,
    convert: compileCell(own.get(name) ?? feature),
  }));
  return (row) => {
    const object: JsonObject = {};
    for (const { name, convert } of converters) {
      setMember(object, name, Object.hasOwn(row, name) ? convert(row[name]) : null);
    }
    return object;
  };
}
