export { createYielder } from './create-yielder.ts';
export { forEachConcurrently } from './for-each-concurrently.ts';
export { mapOrdered } from './map-ordered.ts';
export { type PermitRequest, Semaphore, type SemaphoreOptions } from './semaphore.ts';
