/** Helpers for the service's other packages. They may change in any release. */

export { type AddressRange, createAddressSet } from './http/address-set.ts';
export { parseRetryAfter } from './http/retry-after.ts';
export { type DatasetRef, hubSchema } from './hub-schema.ts';
