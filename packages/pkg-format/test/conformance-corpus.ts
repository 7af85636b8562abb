import { readFileSync } from 'node:fs';
import { type ConformanceCase, INVALID, VALID } from './conformance-cases.ts';

/** The folder of the corpus. */
export const CORPUS: URL = new URL('../../../conformance/pkg/', import.meta.url);

/** A committed archive of the corpus. */
export function corpusArchive({ name }: ConformanceCase): Uint8Array {
  const folder = VALID.some((valid) => valid.name === name) ? 'valid' : 'invalid';
  return new Uint8Array(readFileSync(new URL(`${folder}/${name}.zip`, CORPUS)));
}

/** The corpus's list of cases, and what is expected of each. */
export function caseList(): unknown {
  const list = (cases: readonly ConformanceCase[]) =>
    Object.fromEntries(
      cases.map(({ name, limits, expect }) => [`${name}.zip`, { ...(limits && { limits }), expect }]),
    );
  return JSON.parse(JSON.stringify({ valid: list(VALID), invalid: list(INVALID) }));
}
