import { jsonText, ownText } from '@svc/jsonl-v23/internal';
import { type JsonObject, setMember } from '@svc/jsonl-v23/json';
import { type MappableFeature, type Mapping, type Suggestion, suggestMapping } from '@svc/jsonl-v23/mapping';
import { yieldToEventLoop } from '#runtime';
import { ItemCollector, type PreviewItem } from './preview-items.ts';
import { jsonBytes, type PreviewSamples, SampleCollector } from './preview-samples.ts';

/** The first rows of a table, and what they say about a mapping. */
export interface PreviewRows extends PreviewSamples {
  /** Null where no column looks like a prompt. */
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
  /** Of the first rows, what a suggestion looks at. */
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
