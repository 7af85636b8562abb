import { JsonlError } from '@svc/jsonl-v23';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { compileMapping, type MappableFeature, suggestMapping, writeMapping } from '@svc/jsonl-v23/mapping';
import { openFileTable } from '@svc/tabular';
import { tableSource, toMappable } from '@svc/tabular/internal';
import type { GivenMapping } from '../mapping/mapping-options.ts';
import type { LocalFile } from './open-files.ts';

/**
 * The columns and the first rows of a file, as a service previews it, and with a mapping the items that they become.
 *
 * @throws JsonlError `column_not_found`, `invalid_mapping`; TableError
 */
export async function previewFile(
  { shown, source, detected, section }: LocalFile,
  given: GivenMapping | null,
  limit: number,
  signal: AbortSignal,
): Promise<JsonObject> {
  const textColumns = new Set(Object.keys(given?.mapping.types ?? {}));
  const table = await openFileTable(tableSource(shown, source), detected, {
    textColumns,
    wholeFile: false,
    signal,
  });
  const features = table.features.map(toMappable);
  const columns = features.map(({ name }) => name);
  const samples: JsonObject[] = [];
  for await (const { rows } of table.read({ to: limit, columns, signal })) samples.push(...rows);
  const suggestion = suggestMapping(features, samples);
  const { format, options } = detected;
  return {
    kind: format === 'jsonl' && given === null ? 'items' : 'table',
    format,
    options: { ...options },
    features: features.map(({ name, dtype }) => ({ name, dtype })),
    samples,
    num_rows: table.rowCount ?? null,
    info: table.warnings?.length ? { warnings: [...table.warnings] } : {},
    suggested_mapping: suggestion === null ? null : writeMapping(suggestion.mapping),
    suggested_mapping_reasons: { ...suggestion?.reasons },
    ...(given === null ? {} : { items: itemsOf(samples, given, features, section) }),
  };
}

function itemsOf(
  samples: readonly JsonObject[],
  { mapping }: GivenMapping,
  features: readonly MappableFeature[],
  section: string,
): JsonValue[] {
  const toItem = compileMapping(mapping, features, { split: section });
  return samples.map((row, index) => {
    try {
      return { row: index, item: toItem(row, index) };
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      return { row: index, error: { code: error.code, message: error.message } };
    }
  });
}
