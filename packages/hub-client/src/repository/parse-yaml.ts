import { countLineFeeds } from '@svc/jsonl-v23/bytes';
import { Composer, isAlias, isMap, isScalar, isSeq, type Node, type Pair, Parser } from 'yaml';
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

const MAX_LENGTH = 4 * 1024 * 1024;

/**
 * Parses one YAML document (YAML 1.2, core schema, `<<` merges) from an untrusted source. Bounded: documents over 4 MiB or
 * about 50,000 entries, alias bombs, nesting that exhausts the stack and repeated keys are refused.
 */
export function parseYaml(text: string, location: YamlLocation): YamlValue {
  const { file, firstLine = 1 } = location;
  const refuse = (reason: string, offset?: number, cause?: unknown): HubError => {
    const line = offset === undefined ? undefined : firstLine + countLineFeeds(text.slice(0, offset));
    return invalidMetadata(reason, { location: line === undefined ? { file } : { file, line }, cause });
  };
  if (text.length > MAX_LENGTH) throw refuse(`it has more than ${MAX_LENGTH} characters`);
  // Entries are counted before anything is parsed.
  if (countEntries(text) > MAX_ENTRIES) throw refuse(`it has more than ${MAX_ENTRIES} entries`);
  try {
    // The library compares every key of a map with every other; keys are compared below, once. Its `parseDocument` does the
    // same as these lines, and takes the code for pretty errors into bundles.
    const composer = new Composer({
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    const [document] = [...composer.compose(new Parser().parse(text), true, text.length)];
    if (document === undefined) throw refuse('it has no document');
    const [problem] = document.errors;
    if (problem !== undefined) throw refuse(problem.message, problem.pos[0]);
    const repeated = findRepeatedKey(document.contents);
    if (repeated !== undefined) {
      throw refuse(`key ${JSON.stringify(repeated.key.slice(0, 100))} is repeated`, repeated.offset);
    }
    const value = document.toJS({ maxAliasCount: 100 }) as YamlValue;
    checkMetadata(value, file);
    return value;
  } catch (cause) {
    if (cause instanceof HubError) throw cause;
    // RangeError: nested too deeply. ReferenceError: aliases that grow beyond measure.
    throw refuse('it is nested too deeply or repeats itself too often', undefined, cause);
  }
}

function findRepeatedKey(node: Node | null): { key: string; offset: number } | undefined {
  if (node === null || isAlias(node) || isScalar(node)) return undefined;
  const children = isMap(node) || isSeq(node) ? node.items : [];
  const keys = new Set<string>();
  for (const child of children as (Node | Pair<Node, Node | null>)[]) {
    if ('key' in child) {
      const { key } = child;
      if (isScalar(key) && key.value !== '<<' && typeof key.value !== 'symbol') {
        const name = String(key.value);
        if (keys.has(name)) return { key: name, offset: key.range?.[0] ?? 0 };
        keys.add(name);
      }
      const inside = findRepeatedKey(child.value);
      if (inside !== undefined) return inside;
    } else {
      const inside = findRepeatedKey(child);
      if (inside !== undefined) return inside;
    }
  }
  return undefined;
}
