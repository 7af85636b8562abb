import type { Schema } from '@svc/service';

/** Schemas of single values. */

export const COUNT: Schema = { type: 'integer', minimum: 0 };
export const COUNT_OR_NULL: Schema = { type: ['integer', 'null'], minimum: 0 };
/** A number that counts from 1. */
export const POSITIVE: Schema = { type: 'integer', minimum: 1 };
export const NUMBER_OR_NULL: Schema = { type: ['number', 'null'] };
export const TEXT: Schema = { type: 'string' };
export const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };
export const TIME: Schema = { type: 'string', format: 'date-time' };
export const TIME_OR_NULL: Schema = { type: ['string', 'null'], format: 'date-time' };
export const UUID: Schema = { type: 'string', format: 'uuid' };
export const SHA256: Schema = { type: 'string', pattern: '^[0-9a-f]{64}$' };
/** A hash that a request names. */
export const STATED_HASH: Schema = { ...SHA256, 'x-rule': 'must be 64 hexadecimal digits in lower case' };
/** The `id` of an item. */
export const ITEM_ID: Schema = { type: ['string', 'integer', 'null'] };
