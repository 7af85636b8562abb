import type { StoredItem } from '@svc/store';
import { membersOf } from '@svc/store/rows';

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
