import type { CellValues, ValueConverter } from './cells/convert.ts';
import { StringColumn } from './encodings/string-column.ts';
import type { StoredValues } from './encodings/values.ts';
import type { Codec } from './metadata/file-metadata.ts';
import type { PhysicalType, SchemaTree } from './metadata/schema.ts';

/** What decoding the pages of a leaf column takes. */
export interface LeafColumn {
  /** The column's way from the root of the schema. */
  readonly path: readonly SchemaTree[];
  readonly maxRepetition: number;
  readonly maxDefinition: number;
  readonly type: PhysicalType;
  readonly typeLength: number | undefined;
  readonly codec: Codec;
  readonly convert: ValueConverter;
  /** Whether texts come as `StringColumn`; where their encoding has none, they come in bytes. */
  readonly textSlices: boolean;
}

/** The cells that stored values of a column are. @throws ParquetError where they cannot be what the column says */
export function toCells(values: StoredValues, { convert, textSlices }: LeafColumn): CellValues {
  if (!(values instanceof StringColumn)) return convert(values);
  return textSlices ? values : convert(values.toArray() as Uint8Array[]);
}
