import { JsonlError } from '@svc/jsonl-v23';
import { canonicalByteLength } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { compileMapping, type MappableFeature, type Mapping } from '@svc/jsonl-v23/mapping';
import { jsonBytes } from './preview-samples.ts';

/** A row of a preview as the item that an import would store, or why it has none. */
export type PreviewItem =
  | { readonly row: number; readonly item: JsonObject }
  | { readonly row: number; readonly error: JsonlError };

/** A preview runs in the thread that serves requests: an answer pattern gets some milliseconds for a row. */
const MAX_PATTERN_STEPS = 200_000;

/** Maps the rows of a preview to items that take at most `maxBytes` as JSON text; the rows after them are left out. */
export class ItemCollector {
  readonly #toItem: ReturnType<typeof compileMapping>;
  readonly #maxBytes: number;
  readonly #items: PreviewItem[] = [];
  #usedBytes = 0;

  /** @throws JsonlError `invalid_mapping`, `column_not_found` */
  constructor(mapping: Mapping, features: readonly MappableFeature[], maxBytes: number) {
    this.#toItem = compileMapping(mapping, features, { maxPatternSteps: MAX_PATTERN_STEPS });
    this.#maxBytes = maxBytes;
  }

  add(row: JsonObject, index: number, split: string): void {
    if (this.#usedBytes > this.#maxBytes) return;
    const shown = this.#map(row, index, split);
    this.#usedBytes +=
      ENTRY_BYTES + ('item' in shown ? canonicalByteLength(shown.item) : jsonBytes(shown.error.message));
    if (this.#usedBytes <= this.#maxBytes) this.#items.push(shown);
  }

  get items(): readonly PreviewItem[] {
    return this.#items;
  }

  #map(row: JsonObject, index: number, split: string): PreviewItem {
    try {
      return { row: index, item: this.#toItem(row, index, split) };
    } catch (error) {
      if (!(error instanceof JsonlError)) throw error;
      return { row: index, error };
    }
  }
}

/** The names of an entry's members, its row and its punctuation. */
const ENTRY_BYTES = 100;
