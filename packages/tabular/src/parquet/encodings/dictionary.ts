import type { CellValues, LeafColumn } from '../cells/convert.ts';
import type { PageInflater } from '../codecs/inflate-page.ts';
import { ByteCursor } from '../metadata/byte-cursor.ts';
import type { PageHeader } from '../metadata/page-header.ts';
import { damaged, unsupported } from '../parquet-error.ts';
import { plainReader } from './plain.ts';
import { HybridReader } from './rle-hybrid.ts';

/** Writers stop at some megabytes; a dictionary of all values of a row group has no use. */
const MAX_DICTIONARY_VALUES = 2 ** 22;
/** Memory of a converted entry: a text, bytes, a date. */
const BYTES_PER_VALUE = 80;

/** Reads the values of a page that are indexes of a dictionary (Parquet format, "Dictionary Encoding"). */
export function dictionaryReader(
  cursor: ByteCursor,
  dictionary: CellValues,
): { next(count: number): CellValues } {
  const width = cursor.uint8('the width of its indexes');
  const indexes = new HybridReader(cursor.take(cursor.left, 'its indexes'), width);
  return {
    next(count) {
      const picked = new Int32Array(count);
      indexes.read(picked);
      return pick(dictionary, picked);
    },
  };
}

function pick(dictionary: CellValues, indexes: Int32Array): CellValues {
  const size = dictionary.length;
  const output = (
    Array.isArray(dictionary)
      ? new Array(indexes.length)
      : new (dictionary.constructor as new (length: number) => unknown[])(indexes.length)
  ) as unknown[];
  for (let at = 0; at < indexes.length; at += 1) {
    const index = indexes[at] as number;
    if (index < 0 || index >= size) throw damaged('a value is not in its dictionary');
    output[at] = dictionary[index];
  }
  return output;
}

/** Decodes a dictionary page. @returns the values, and about how much memory they take besides their page */
export async function decodeDictionary(
  body: Uint8Array,
  header: PageHeader,
  column: LeafColumn,
  inflater: PageInflater,
): Promise<{ values: CellValues; overheadBytes: number }> {
  const count = header.dictionary_page_header?.num_values;
  if (count === undefined || count < 0) throw damaged('its dictionary has no number of values');
  if (count > MAX_DICTIONARY_VALUES) throw unsupported(`its dictionary has ${count} values`);
  const page = await inflater.inflate(column.codec, body, header.uncompressed_page_size ?? 0);
  const cursor = new ByteCursor(page);
  const stored = count === 0 ? [] : plainReader(cursor, column.type, column.typeLength).next(count);
  return { values: column.convert(stored), overheadBytes: count * BYTES_PER_VALUE };
}
