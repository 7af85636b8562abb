import { skipValue } from '@svc/jsonl-v23/json';
import type { StoredItem } from '@svc/store';

/** A stored item whose members are read when a column first asks for one. */
export class ItemRow {
  readonly item: StoredItem;
  #members: ReadonlyMap<string, string> | undefined;
  #inputs: ReadonlyMap<string, string> | undefined;

  constructor(item: StoredItem) {
    this.item = item;
  }

  /** The JSON text of a member of the item. */
  member(key: string): string | null {
    this.#members ??= membersOf(this.item.payload);
    return this.#members.get(key) ?? null;
  }

  /** The JSON text of a member of `inputs`. */
  input(key: string): string | null {
    this.#inputs ??= membersOf(this.member('inputs') ?? '{}');
    return this.#inputs.get(key) ?? null;
  }
}

/** Stored items as rows of a table. */
export async function* itemRows(batches: AsyncIterable<readonly StoredItem[]>): AsyncGenerator<ItemRow[]> {
  for await (const batch of batches) yield batch.map((item) => new ItemRow(item));
}

/** The members of an object, from its canonical text: the JSON text of each value, with every digit, by its key. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (let start = 1; start < text.length - 1; ) {
    const keyEnd = skipValue(text, start);
    const quoted = text.slice(start, keyEnd);
    const end = skipValue(text, keyEnd + 1);
    members.set(
      quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1),
      text.slice(keyEnd + 1, end),
    );
    start = end + 1;
  }
  return members;
}
