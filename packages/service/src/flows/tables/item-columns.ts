/** `@svc/service/item-columns`: the columns of items, for threads, which load nothing else of the flows. */

import { inspectChoices } from '@svc/formats';
import { canonicalJson, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { TableColumn } from '@svc/tabular/write';
import type { StoredItem } from '../../store/index.ts';
import { joinStoredItem, membersOf } from '../../store/rows.ts';

const quoted = (text: string): string => JSON.stringify(text);

/** The columns of a table of items, in their default order. */
export const ITEM_COLUMNS: readonly TableColumn<ItemRow>[] = [
  { name: 'section', type: 'string', json: ({ item }) => quoted(item.section) },
  { name: 'order_index', type: 'int64', json: ({ item }) => String(item.orderIndex) },
  {
    name: 'item_hash',
    type: 'string',
    json: ({ item }) => `"${Buffer.from(item.itemHash).toString('hex')}"`,
  },
  { name: 'id', type: 'string', json: (row) => row.member('id') },
  { name: 'type', type: 'string', json: (row) => row.member('type') },
  { name: 'prompt', type: 'string', json: (row) => row.input('prompt') },
  { name: 'answer', type: 'string', json: ({ item }) => item.answer },
  { name: 'choices', type: 'json', json: (row) => row.input('choices') },
  { name: 'messages', type: 'json', json: (row) => row.input('messages') },
  { name: 'system_prompt', type: 'string', json: (row) => row.input('system_prompt') },
  { name: 'criteria', type: 'json', json: (row) => row.member('criteria') },
  { name: 'tags', type: 'json', json: (row) => row.member('tags') },
  { name: 'checker', type: 'json', json: ({ item }) => item.checker },
  { name: 'meta', type: 'json', json: (row) => row.member('meta') },
  { name: 'assets', type: 'json', json: ({ item }) => item.assets },
];

/** Columns that a table has on request only. */
export const OTHER_ITEM_COLUMNS: readonly TableColumn<ItemRow>[] = [
  { name: 'item', type: 'json', json: ({ item }) => joinStoredItem(item) },
];

/** A stored item whose members are read when a column first asks for one. */
export class ItemRow {
  readonly item: StoredItem;
  #members: ReadonlyMap<string, string> | undefined;
  #inputs: ReadonlyMap<string, string> | undefined;

  constructor(item: StoredItem) {
    this.item = item;
  }

  member(key: string): string | null {
    this.#members ??= membersOf(this.item.payload);
    return this.#members.get(key) ?? null;
  }

  input(key: string): string | null {
    this.#inputs ??= membersOf(this.member('inputs') ?? '{}');
    return this.#inputs.get(key) ?? null;
  }
}

export async function* itemRows(batches: AsyncIterable<readonly StoredItem[]>): AsyncGenerator<ItemRow[]> {
  for await (const batch of batches) yield batch.map((item) => new ItemRow(item));
}

export type ItemTarget = ReturnType<typeof itemTarget>;

/**
 * What an item is asked with and compared with, as Inspect takes it. The target is the letters of its answer for an item with
 * choices, else its criteria, else its answer; the first of several.
 */
export function itemTarget(row: ItemRow) {
  const answer = readValue(row.item.answer);
  const item: JsonObject = { answer, inputs: { choices: readValue(row.input('choices')) } };
  const { choices, letters } = inspectChoices(item);
  // Null is no letter.
  if (choices.length > 0) return { target: letters.join('') || null, choices };
  const criteria = readValue(row.member('criteria'));
  const stated = Array.isArray(criteria) && criteria.length > 0 ? criteria.map(textOf).join('\n') : null;
  const first = Array.isArray(answer) ? (answer[0] ?? null) : answer;
  return { target: stated ?? (first === null ? null : textOf(first)), choices: null };
}

const readValue = (text: string | null): JsonValue =>
  text === null ? null : parseJson(text, { maxDepth: 1_000 });

const textOf = (value: JsonValue): string =>
  (typeof value === 'string' ? value : canonicalJson(value)).toWellFormed();
