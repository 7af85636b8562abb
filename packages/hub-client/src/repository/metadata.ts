import { HubError, type HubErrorOptions } from '../errors.ts';

export type YamlValue = null | boolean | number | string | YamlValue[] | YamlMap;
export interface YamlMap {
  [key: string]: YamlValue;
}

export interface YamlLocation {
  readonly file: string;
  /** Line of the file on which the text begins; default 1. */
  readonly firstLine?: number;
}

/**
 * The largest known cards have some thousand subsets in some 30,000 lines. As YAML, an entry costs about a kilobyte of
 * memory and 20 microseconds.
 */
export const MAX_ENTRIES = 50_000;
/** A map in a list is a value itself, on the line of its first member. */
const MAX_VALUES = 2 * MAX_ENTRIES;
const MAX_DEPTH = 64;
const ENTRY_STARTS = new Set(['\n', ',', '[', '{'].map((character) => character.charCodeAt(0)));

/** The error for metadata that cannot be read. @param reason the end of a sentence, without its full stop */
export function invalidMetadata(reason: string, options: HubErrorOptions): HubError {
  return new HubError('hub_unsupported_dataset', `Cannot read the metadata: ${reason}.`, options);
}

export function asMap(value: YamlValue | undefined): YamlMap | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

/** Refuses metadata with more values, or nested deeper, than readers take. @throws HubError `hub_unsupported_dataset` */
export function checkMetadata(value: YamlValue, file: string): void {
  const refuse = (reason: string): HubError => invalidMetadata(reason, { location: { file } });
  let level = [value];
  let entries = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) throw refuse(`it is nested more than ${MAX_DEPTH} deep`);
    const next: YamlValue[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const child of Array.isArray(item) ? item : Object.values(item)) {
        entries += 1;
        if (typeof child === 'object' && child !== null) next.push(child);
      }
      if (entries > MAX_VALUES) throw refuse(`it has more than ${MAX_VALUES} values`);
    }
    level = next;
  }
}

/** A quick upper bound for the entries of a text. */
export function countEntries(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (ENTRY_STARTS.has(text.charCodeAt(index))) count += 1;
  }
  return count;
}
