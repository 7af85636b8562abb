import { JsonlError } from '@svc/jsonl-v23';
import { ownText } from '@svc/jsonl-v23/bytes';
import { canonicalByteLength, type JsonObject, jsonText, setMember } from '@svc/jsonl-v23/json';
import {
  compileMapping,
  type MappableFeature,
  type Mapping,
  type RowMapper,
  type Suggestion,
  suggestMapping,
} from '@svc/jsonl-v23/mapping';
import { yieldToEventLoop } from '#runtime';
import { jsonBytes, type PreviewSamples, SampleCollector } from './preview-samples.ts';

/** A row of a preview as the item that an import would store, or why it has none. */
export type PreviewItem =
  | { readonly row: number; readonly item: JsonObject }
  | { readonly row: number; readonly error: JsonlError };

/** The first rows of a table, and what they say about a mapping. */
export interface PreviewRows extends PreviewSamples {
  /** Null if no column looks like a prompt. */
  readonly suggestion: Suggestion | null;
  /** With a mapping: the items that an import would store, up to the size limit. */
  readonly items: readonly PreviewItem[] | null;
}

/** A row with its position in its table. */
export interface NumberedRow {
  readonly row: JsonObject;
  readonly rowIndex: number;
  /** Part of the ids of rows without an id column. */
  readonly split: string;
}

/** What a preview makes of rows. */
export interface CollectOptions {
  readonly mapping: Mapping | null;
  /** Bytes of JSON text that samples, items and the suggestion may take. */
  readonly maxBytes: number;
  /** The columns that the dataset names itself; default none. */
  readonly specified?: Mapping | null;
}

/** A preview runs in the thread that serves requests: an answer pattern gets some milliseconds for a row. */
const MAX_PATTERN_STEPS = 200_000;
/** The names of an entry's members, its row and its punctuation. */
const ENTRY_BYTES = 100;
/** More than any choices. Longer texts are kept from here to their end, where the answer is; longer values are not. */
const MAX_KEPT_LENGTH = 16 * 1024;
/** Characters of all rows that a suggestion looks at. */
const MAX_SUGGESTION_LENGTH = 2 * 1024 * 1024;
/** More than the names and reasons of any usual table. */
const MAX_SUGGESTION_BYTES = 64 * 1024;
/** The keys of a mapping, which are longer as requests name them. */
const KEY_BYTES = 200;

/**
 * Collects the rows of a preview: as samples, as items, and for a suggestion. Together they take at most `maxBytes` as
 * JSON text: items half of it, the suggestion at most a quarter or 64 KiB, samples the rest. What one does not use stays
 * unused. It reads no further than samples are shown.
 *
 * @param features the columns of the rows
 * @throws JsonlError `invalid_mapping`, `column_not_found`; errors of the batches
 */
export async function collectRows(
  batches: AsyncIterable<readonly NumberedRow[]> | Iterable<readonly NumberedRow[]>,
  features: readonly MappableFeature[],
  { mapping, maxBytes, specified = null }: CollectOptions,
): Promise<PreviewRows> {
  const itemBytes = mapping === null ? 0 : maxBytes / 2;
  const suggestionBytes = Math.min(maxBytes / 4, MAX_SUGGESTION_BYTES);
  const toItem = mapping && compileMapping(mapping, features, { maxPatternSteps: MAX_PATTERN_STEPS });
  const samples = new SampleCollector(maxBytes - itemBytes - suggestionBytes);
  const items: PreviewItem[] = [];
  let usedBytes = 0;
  const rows: JsonObject[] = [];
  let keptLength = 0;
  for await (const batch of batches) {
    for (const numbered of batch) {
      if (samples.isFull) break;
      samples.add(numbered.row);
      if (keptLength < MAX_SUGGESTION_LENGTH) {
        const kept = keepStart(numbered.row);
        keptLength += kept.length;
        rows.push(kept.row);
      }
      if (toItem !== null && usedBytes <= itemBytes) {
        const shown = itemOf(numbered, toItem);
        usedBytes +=
          ENTRY_BYTES + ('item' in shown ? canonicalByteLength(shown.item) : jsonBytes(shown.error.message));
        if (usedBytes <= itemBytes) items.push(shown);
      }
      await yieldToEventLoop();
    }
    if (samples.isFull) break;
  }
  const suggested = suggestMapping(features, rows, specified);
  const isShown = suggested !== null && jsonBytes(suggested) + KEY_BYTES <= suggestionBytes;
  return {
    ...samples.end(),
    suggestion: isShown ? suggested : null,
    items: mapping === null ? null : items,
  };
}

/** The part of a row that a suggestion looks at, and about how many characters it has. */
function keepStart(row: JsonObject): { row: JsonObject; length: number } {
  const kept: JsonObject = {};
  let total = 0;
  for (const [name, value] of Object.entries(row)) {
    const isText = typeof value === 'string';
    const length = isText ? value.length : jsonText(value).length;
    const shown = isText ? ownText(value.slice(-MAX_KEPT_LENGTH)) : {};
    setMember(kept, name, length <= MAX_KEPT_LENGTH ? value : shown);
    total += Math.min(length, MAX_KEPT_LENGTH);
  }
  return { row: kept, length: total };
}

function itemOf({ row, rowIndex, split }: NumberedRow, toItem: RowMapper): PreviewItem {
  try {
    return { row: rowIndex, item: toItem(row, rowIndex, split) };
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    return { row: rowIndex, error };
  }
}
