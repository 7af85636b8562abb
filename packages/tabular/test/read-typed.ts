import type { JsonObject } from '@svc/jsonl-v23/json';
import { PandasReader } from '../src/csv/infer-pandas.ts';
import type { Features } from '../src/schema/features.ts';
import { inferSchema } from '../src/schema/infer-schema.ts';
import { batchRows, type FoundRow, type TextReader } from '../src/text/batch-rows.ts';
import { CachedFile } from '../src/text/cached-file.ts';
import { RowReader, type TextTablesOptions } from '../src/text/text-table.ts';
import { memoryFile } from './memory-file.ts';

interface Typed {
  readonly features: Features;
  readonly warnings: readonly string[];
  readonly rows: readonly JsonObject[];
}
interface TypedOptions {
  readonly declared?: Features | undefined;
  /** How many of the first rows decide; default all. */
  readonly windowRows?: number | undefined;
}

/** Types rows as a stream is typed: the first ones decide, and all are converted. */
export function readTyped(
  format: TextTablesOptions['format'],
  content: string,
  options: TypedOptions = {},
): Promise<Typed> {
  return format === 'csv'
    ? typed(new PandasReader({}), content, options)
    : typed(new RowReader(format, {}), content, options);
}

async function typed<Row extends FoundRow>(
  reader: TextReader<Row>,
  content: string,
  { declared, windowRows = Number.POSITIVE_INFINITY }: TypedOptions,
): Promise<Typed> {
  const file = new CachedFile(memoryFile(new TextEncoder().encode(content), 'f'));
  const builder = inferSchema(reader.inference, { declared });
  let index = 0;
  for await (const group of reader.rowsOf(file, undefined)) {
    for (const row of group) {
      if (index < windowRows) builder.add(row);
      index += 1;
    }
  }
  const schema = builder.finish();
  const readRow = reader.rowReader(
    schema,
    schema.features.map(({ name }) => name),
  );
  const range = { from: 0, to: Number.POSITIVE_INFINITY, skipsInvalid: false };
  const rows: JsonObject[] = [];
  for await (const batch of batchRows(reader.rowsOf(file, undefined), readRow, range))
    rows.push(...batch.rows);
  return { features: schema.features, warnings: schema.warnings, rows };
}
