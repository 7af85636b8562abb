import { JsonlError } from '@svc/jsonl-v23';
import { ownText } from '@svc/jsonl-v23/bytes';
import { canonicalByteLength, type JsonObject, jsonText, setMember } from '@svc/jsonl-v23/json';
import {
  compileMapping,
  type MappableFeature,
  type Mapping,
  type Suggestion,
  suggestMapping,
} from '@svc/jsonl-v23/mapping';
import { yieldToEventLoop } from '#runtime';
import { jsonBytes, type PreviewSamples, SampleCollector } from './preview-samples.ts';

/** A row of a preview as the item that an import would store, or why it has none. */
export type PreviewItem =
  | { readonly row: number; readonly item: JsonObject }
  | { readonly row: number; readonly error: JsonlError };

/** A preview runs in the thread that serves requests: an answer pattern gets some milliseconds for a row. */
const MAX_PATTERN_STEPS = 200_000;

/** Maps the rows of a preview to items that take at most `maxBytes` as JSON text; the rows after them are left out. */
class ItemCollector {
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

/** The first rows of a table, and what they say about a mapping. */
export interface PreviewRows extends PreviewSamples {
  /** Null if no column looks like a prompt. */
  readonly suggestion: Suggestion | null;
  /** With a mapping: the items that an import would store, up to the size limit. */
  readonly items: readonly PreviewItem[] | null;
}

/**
 * Characters of a cell, more than the choices of any question: longer texts are kept from here to their end, where the
 * answer is, and longer values not at all.
 */
const MAX_KEPT_LENGTH = 16 * 1024;
/** Characters of all rows that a suggestion looks at. */
const MAX_SUGGESTION_LENGTH = 2 * 1024 * 1024;

/**
 * Collects the rows of a preview: as samples, as items, and for a suggestion. Together they take at most `maxBytes` as
 * JSON text: items half of it, the suggestion at most a quarter or 64 KiB, samples the rest. What one does not use stays unused.
 */
export class RowsCollector {
  readonly #features: readonly MappableFeature[];
  readonly #suggestionBytes: number;
  readonly #samples: SampleCollector;
  readonly #items: ItemCollector | null;
  /** The part of the first rows that a suggestion looks at. */
  readonly #rows: JsonObject[] = [];
  #keptLength = 0;

  /** @throws JsonlError `invalid_mapping`, `column_not_found` */
  constructor(features: readonly MappableFeature[], mapping: Mapping | null, maxBytes: number) {
    this.#features = features;
    const itemBytes = mapping === null ? 0 : maxBytes / 2;
    this.#suggestionBytes = Math.min(maxBytes / 4, MAX_SUGGESTION_BYTES);
    this.#samples = new SampleCollector(maxBytes - itemBytes - this.#suggestionBytes);
    this.#items = mapping === null ? null : new ItemCollector(mapping, features, itemBytes);
  }

  /** Whether no further row can be shown. */
  get isFull(): boolean {
    return this.#samples.isFull;
  }

  /** Takes a row, unless there is no room for it. @param split part of the ids of rows without an id column */
  async add(row: JsonObject, index: number, split: string): Promise<void> {
    if (this.isFull) return;
    this.#samples.add(row);
    if (this.#keptLength < MAX_SUGGESTION_LENGTH) this.#keep(row);
    this.#items?.add(row, index, split);
    await yieldToEventLoop();
  }

  #keep(row: JsonObject): void {
    const kept: JsonObject = {};
    for (const [name, value] of Object.entries(row)) {
      const isText = typeof value === 'string';
      const length = isText ? value.length : jsonText(value).length;
      const shown = isText ? ownText(value.slice(-MAX_KEPT_LENGTH)) : {};
      setMember(kept, name, length <= MAX_KEPT_LENGTH ? value : shown);
      this.#keptLength += Math.min(length, MAX_KEPT_LENGTH);
    }
    this.#rows.push(kept);
  }

  /** @param specified the columns that the dataset names itself */
  end(specified: Mapping | null = null): PreviewRows {
    const suggested = suggestMapping(this.#features, this.#rows, specified);
    const isShown = suggested !== null && jsonBytes(suggested) + KEY_BYTES <= this.#suggestionBytes;
    return {
      ...this.#samples.end(),
      suggestion: isShown ? suggested : null,
      items: this.#items?.items ?? null,
    };
  }
}

/** More than the names and reasons of any usual table. */
const MAX_SUGGESTION_BYTES = 64 * 1024;

/** The keys of a mapping, which are longer as requests name them. */
const KEY_BYTES = 200;
