export * from './async-loops.ts';
export * from './shares.ts';
export * from './threads.ts';
