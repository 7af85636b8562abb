import type { ValueConverter } from './cells/convert.ts';
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
  /** Whether its values do not refer to the bytes of their page. */
  readonly holdsTexts: boolean;
}
