import { countLineFeeds } from '@svc/jsonl-v23/bytes';
import { Composer, isAlias, isMap, isScalar, isSeq, type Node, type Pair, Parser } from 'yaml';
import { HubError } from '../errors.ts';
import {
  checkMetadata,
  countEntries,
  invalidMetadata,
  MAX_ENTRIES,
  type YamlLocation,
  type YamlValue,
} from './metadata.ts';

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
