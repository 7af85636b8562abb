export * from './async-loops.ts';
export * from './semaphore.ts';
export * from './threads.ts';
