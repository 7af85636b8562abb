/** `@svc/jsonl-v23/runs`: runs, their results and labels as packages and services have them, and their hashes. */
export * from './fields/field.ts';
export * from './fields/label.ts';
export * from './fields/result-fields.ts';
export * from './fields/run-fields.ts';
export * from './hash/run-hash.ts';
export * from './output/split-reasoning.ts';
