import { canonicalJson, isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { DiffCounts } from '../../src/store/diff/compare-sections.ts';

/** Sections by name, in order, with their items as canonical texts. */
export type Content = Readonly<Record<string, readonly string[]>>;

/** Where an item is: its section and its position. */
export type Position = readonly [section: string, item: number];

/** What distinguishes two contents. */
export interface ReferenceDiff {
  readonly counts: DiffCounts;
  readonly changed: readonly (readonly [section: string, from: number, to: number])[];
  readonly added: readonly Position[];
  readonly removed: readonly Position[];
  /** Sections of both whose paired items are in another order. */
  readonly reordered: readonly string[];
}

/** Compares two contents as docs/versions.md says, with whatever time it takes. */
export function referenceDiff(from: Content, to: Content): ReferenceDiff {
  const pairs = new Map<string, [from: number, to: number][]>();
  const left = { from: positionsOf(from), to: positionsOf(to) };
  const textOf = (content: Content, [section, item]: Position): string => content[section]?.[item] ?? '';
  const pair = (a: Position, b: Position): void => {
    pairs.set(a[0], [...(pairs.get(a[0]) ?? []), [a[1], b[1]]]);
    left.from = left.from.filter((one) => one !== a);
    left.to = left.to.filter((one) => one !== b);
  };
  const pairBy = (keyOf: (content: Content, position: Position) => string | null): void => {
    for (const a of left.from) {
      const key = keyOf(from, a);
      const b = key === null ? undefined : left.to.find((one) => keyOf(to, one) === key);
      if (b !== undefined) pair(a, b);
    }
  };
  pairBy((content, position) => canonicalJson([...position, textOf(content, position)]));
  const isUnique = (content: Content, section: string, id: string): boolean =>
    (content[section] ?? []).filter((text) => idOf(text) === id).length === 1;
  pairBy((content, position) => {
    const id = idOf(textOf(content, position));
    const [section] = position;
    if (id === null || !isUnique(from, section, id) || !isUnique(to, section, id)) return null;
    return canonicalJson([section, id]);
  });
  pairBy((content, position) => canonicalJson([position[0], textOf(content, position)]));
  pairBy((content, position) => {
    const prompt = promptOf(textOf(content, position));
    return prompt === null ? null : canonicalJson([position[0], prompt]);
  });
  const changed: [string, number, number][] = [];
  const reordered: string[] = [];
  for (const [section, ofSection] of pairs) {
    const isEqual = ([a, b]: readonly [number, number]): boolean => from[section]?.[a] === to[section]?.[b];
    for (const one of ofSection) if (!isEqual(one)) changed.push([section, ...one]);
    const seconds = ofSection.toSorted(([a], [b]) => a - b).map(([, second]) => second);
    if (seconds.some((second, at) => second < (seconds[at - 1] ?? 0))) reordered.push(section);
  }
  const { from: removed, to: added } = left;
  const counts = { added: added.length, changed: changed.length, removed: removed.length };
  return { counts, changed, added, removed, reordered };
}

function positionsOf(content: Content): Position[] {
  return Object.entries(content).flatMap(([section, texts]) =>
    texts.map((_, item): Position => [section, item]),
  );
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return value !== undefined && isJsonObject(value) ? value[key] : undefined;
}

function idOf(text: string): string | null {
  const id = memberOf(parseJson(text), 'id');
  return id === undefined ? null : canonicalJson(id);
}

function promptOf(text: string): string | null {
  const inputs = memberOf(parseJson(text), 'inputs');
  const prompt = memberOf(inputs, 'prompt');
  const messages = memberOf(inputs, 'messages');
  if (typeof prompt === 'string') return canonicalJson(prompt);
  return Array.isArray(messages) ? canonicalJson(messages) : null;
}
