import type { JsonObject } from '../json/json-value.ts';

/** A normalised item: an object whose known keys have the types of `ITEM_SCHEMA`, with normalised assets. */
export type Item = JsonObject;
