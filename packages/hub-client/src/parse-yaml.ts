import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml';
import { HubError } from './errors.ts';

/** A YAML document as plain data. */
export type YamlValue = null | boolean | number | string | YamlValue[] | YamlMap;
export interface YamlMap {
  [key: string]: YamlValue;
}

// The largest dataset cards list some thousand subsets in under one megabyte. A parsed entry costs about a kilobyte
// of memory, so entries are counted before anything is parsed.
const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_ENTRIES = 200_000;
const ENTRY_STARTS = new Set(['\n', ',', '[', '{'].map((character) => character.charCodeAt(0)));

/**
 * Parses one YAML document (YAML 1.2, core schema, `<<` merges) that a stranger wrote. Bounded: documents over 4 MiB or
 * about 200,000 entries, alias bombs, nesting that exhausts the stack and repeated keys are refused.
 *
 * @param place where the text stands, for errors: its file and the line of the file on which it begins
 * @throws HubError `hub_unsupported_dataset`
 */
export function parseYaml(text: string, place: { file: string; firstLine?: number }): YamlValue {
  const { file, firstLine = 1 } = place;
  const refuse = (reason: string, offset?: number, cause?: unknown): HubError => {
    const line = offset === undefined ? undefined : firstLine + countNewlines(text, offset);
    return new HubError('hub_unsupported_dataset', `Metadata cannot be read: ${reason}`, {
      place: line === undefined ? { file } : { file, line },
      cause,
    });
  };
  if (text.length > MAX_LENGTH || countEntries(text) > MAX_ENTRIES) throw refuse('it is too large');
  try {
    // The library compares every key of a map with every other; keys are compared below, once.
    const document = parseDocument(text, {
      merge: true,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: 'silent',
    });
    const [problem] = document.errors;
    if (problem !== undefined) throw refuse(problem.message, problem.pos[0]);
    const repeated = findRepeatedKey(document.contents);
    if (repeated !== undefined) {
      throw refuse(`key ${JSON.stringify(repeated.key.slice(0, 100))} is repeated`, repeated.offset);
    }
    return document.toJS({ maxAliasCount: 100 }) as YamlValue;
  } catch (cause) {
    if (cause instanceof HubError) throw cause;
    // RangeError: nested too deeply. ReferenceError: aliases that grow beyond measure.
    throw refuse('it is nested too deeply or repeats itself too often', undefined, cause);
  }
}

/** The value as a map, or null where it is anything else. */
export function asMap(value: YamlValue | undefined): YamlMap | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
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

function countEntries(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (ENTRY_STARTS.has(text.charCodeAt(index))) count += 1;
  }
  return count;
}

function countNewlines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
