/** `@svc/service/item-columns`: the columns of items, for threads, which load nothing else of the flows. */

export { ITEM_COLUMNS } from './tables/item-columns.ts';
export { ItemRow } from './tables/item-row.ts';
export { type ItemTarget, itemTarget } from './tables/item-target.ts';
