import { gzipSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';

export interface WriteOptions {
  columns: ColumnSource[];
  schema?: SchemaElement[];
  /** Feature JSON by column, as the hub's own writer leaves it in the file. */
  features?: Record<string, unknown>;
  rowGroupSize?: number;
  pageSize?: number;
}

/** A Parquet file in memory. */
export function writeParquet({
  columns,
  schema,
  features,
  rowGroupSize,
  pageSize,
}: WriteOptions): Uint8Array {
  const kvMetadata = features && [{ key: 'huggingface', value: JSON.stringify({ info: { features } }) }];
  return new Uint8Array(
    parquetWriteBuffer({
      columnData: columns,
      compressors: { GZIP: (page) => gzipSync(page) },
      ...(schema && { schema }),
      ...(rowGroupSize && { rowGroupSize }),
      ...(pageSize && { pageSize }),
      ...(kvMetadata && { kvMetadata }),
    }),
  );
}
