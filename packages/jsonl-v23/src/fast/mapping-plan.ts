import { DEFAULT_ITEM_TYPE } from '../item/encode-item.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import type { CellBatch } from '../mapping/cell-batch.ts';
import { type ColumnType, type Mapping, mappedColumns, metaEntries } from '../mapping/mapping.ts';

/** The keys of an item in UTF-8, in the order in which they are written. */
export const ITEM_KEYS: Readonly<Record<ItemKey, Uint8Array>> = {
  answer: utf8('"answer":'),
  id: utf8('"id":'),
  inputs: utf8('"inputs":{'),
  choices: utf8('"choices":'),
  messages: utf8('"messages":'),
  prompt: utf8('"prompt":'),
  systemPrompt: utf8('"system_prompt":'),
  meta: utf8(',"meta":{'),
};
type ItemKey = 'answer' | 'id' | 'inputs' | 'choices' | 'messages' | 'prompt' | 'systemPrompt' | 'meta';
/** At least the length of all these keys, the digits of a row index, and the characters between members. */
const FIXED_BYTES = 256;

/** A member of `meta`. */
export interface MetaMember {
  /** The name as it is written, with its colon. */
  readonly key: Uint8Array;
  /** Index of its column in the batch; -1 if there is none. */
  readonly column: number;
  /** Whether its value must be a string. */
  readonly isText: boolean;
}

/** A column whose cells must be of a type. */
export interface TypedColumn {
  readonly column: number;
  readonly type: ColumnType;
}

/** How the rows of one batch become items: for each use of a column its index in the batch, -1 if there is none. */
export interface MappingPlan {
  /** Whether the fast path can encode rows of this batch. */
  readonly isSupported: boolean;
  readonly answer: number;
  readonly id: number;
  readonly choices: number;
  readonly prompt: number;
  readonly systemPrompt: number;
  /** In canonical order. */
  readonly meta: readonly MetaMember[];
  /** Columns with types; cells of other types are left to the reference path. */
  readonly typed: readonly TypedColumn[];
  /** `"tags":[…],`, or nothing. */
  readonly tags: Uint8Array;
  /** `"type":"…"` */
  readonly type: Uint8Array;
  /** `"id":"` and the beginning of the ids of rows without an id column. */
  readonly idPrefix: Uint8Array;
  /** No item of the batch takes more bytes. */
  readonly maxItemBytes: number;
}

/** Members of a mapping that need the values of cells. */
const NEEDS_VALUES = [
  'assetsColumn',
  'criteriaColumns',
  'promptTemplate',
  'systemPromptTemplate',
  'answerPattern',
  'choicesColumns',
  'typeColumn',
  'tagsColumns',
  'checker',
] as const satisfies readonly (keyof Mapping)[];

const isGiven = (member: unknown): boolean =>
  Array.isArray(member) ? member.length > 0 : member !== undefined && member !== null;

/** Makes the plan for a batch. */
export function planMapping(mapping: Mapping, batch: CellBatch): MappingPlan {
  const { columns, split } = batch;
  const indexes = new Map(columns.map((name, index) => [name, index]));
  const indexOf = (name: string | undefined): number => (name === undefined ? -1 : (indexes.get(name) ?? -1));
  const id = canonicalJson(`${split}-`);
  const tags = [...new Set(mapping.tags)];
  const plan = {
    isSupported:
      !NEEDS_VALUES.some((key) => isGiven(mapping[key])) &&
      (mapping.answerIs ?? 'text') === 'text' &&
      mappedColumns(mapping).every((name) => indexes.has(name)),
    answer: indexOf(mapping.answerColumn),
    id: indexOf(mapping.idColumn),
    choices: indexOf(mapping.choicesColumn),
    prompt: indexOf(mapping.promptColumn),
    systemPrompt: indexOf(mapping.systemPromptColumn),
    // Comparison of strings is by UTF-16 code units.
    meta: metaEntries(mapping)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, column]) => ({
        key: utf8(`${canonicalJson(key)}:`),
        column: indexOf(column),
        isText: key === 'judge_prompt',
      })),
    typed: Object.entries(mapping.types ?? {})
      .map(([name, type]) => ({ column: indexOf(name), type }))
      .filter(({ column }) => column !== -1),
    tags: utf8(tags.length === 0 ? '' : `"tags":${canonicalJson(tags)},`),
    type: utf8(`"type":${canonicalJson(mapping.defaultType ?? DEFAULT_ITEM_TYPE)}`),
    idPrefix: utf8(`"id":${id.slice(0, -1)}`),
  };
  return { ...plan, maxItemBytes: maxItemBytes(plan, batch) };
}

function maxItemBytes(plan: Omit<MappingPlan, 'maxItemBytes'>, { ends, columns }: CellBatch): number {
  const { answer, id, choices, prompt, systemPrompt, meta } = plan;
  const uses = [answer, id, choices, prompt, systemPrompt, ...meta.map(({ column }) => column)];
  let size = FIXED_BYTES + plan.type.length + plan.tags.length + plan.idPrefix.length;
  for (const { key } of meta) size += key.length + 1;
  const usesOf = new Map<number, number>();
  for (const use of uses) usesOf.set(use, (usesOf.get(use) ?? 0) + 1);
  for (const index of columns.keys()) {
    let largest = 0;
    for (let cell = index; cell < ends.length; cell += columns.length) {
      largest = Math.max(largest, (ends[cell] as number) - (cell === 0 ? 0 : (ends[cell - 1] as number)));
    }
    size += largest * (usesOf.get(index) ?? 0);
  }
  return size;
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
