import { joinStoredItem } from '@svc/store/rows';
import type { TableColumn } from '@svc/tabular/write';
import type { ItemRow } from './item-row.ts';

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
