import { getMember, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { linesOf } from '../../api/streams.ts';
import { leavesOf, objectIn, textIn } from '../../ui/pointer-of.ts';
import { plainText, textOrJson } from '../../ui/text/formats.ts';
import { choicesOf, messagesOf, tagsOf } from '../items/item-reading.ts';
import type { VersionOf } from '../items/item-windows.ts';

/** Where reading stops without being asked for more. */
const FIRST_ITEMS = 5_000;
const FIRST_BYTES = 16 * 1024 * 1024;

const MAX_IDS = 500;
const MAX_META_KEYS = 100;

/** What the service slices by: the most values, and the longest. */
const MAX_SLICES = 50;
const MAX_VALUE = 1_000;

/** Items between two looks at the clock of the page. */
const STEP = 200;

/** Reads items as a stream, within limits only the first, and counts them. Memory holds one line and a few numbers of each. */
export async function readOverview({ id, version }: VersionOf, limits: boolean, signal: AbortSignal) {
  const found = new Counts();
  for await (const line of linesOf(`/datasets/${id}/items.jsonl?version=${version}`, signal)) {
    if (limits && (found.items >= FIRST_ITEMS || found.readBytes >= FIRST_BYTES)) return found.end(false);
    found.add(line);
    if (found.items % STEP === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return found.end(true);
}

class Counts {
  items = 0;
  readBytes = 0;
  readonly types = new Map<string, number>();
  readonly tags = new Map<string, number>();
  /** Characters. */
  readonly promptLengths: number[] = [];
  readonly targetLengths: number[] = [];
  readonly choiceCounts: number[] = [];
  readonly ids: string[] = [];
  /** How often each value occurs, by pointer; null if they are too many or too long. */
  readonly #metaValues = new Map<string, Map<string, number> | null>();
  readonly #answers = new Map<string, number>();

  add(line: string): void {
    const item = parseJson(line);
    this.items += 1;
    this.readBytes += line.length;
    if (!isJsonObject(item)) return;
    increment(this.types, textOrJson(getMember(item, 'type')) || 'freeform');
    for (const tag of tagsOf(item)) increment(this.tags, tag);
    const id = textOrJson(getMember(item, 'id'));
    if (id !== '' && this.ids.length < MAX_IDS) this.ids.push(id);
    for (const [pointer, value] of leavesOf(objectIn(item, 'meta'))) this.#addValue(pointer, value);
    this.promptLengths.push(lengthOf(item));
    const answer = getMember(item, 'answer');
    if (answer !== undefined && answer !== null) {
      const text = textOrJson(answer);
      this.targetLengths.push(text.length);
      if (text.length < MAX_VALUE) increment(this.#answers, text);
    }
    const { length } = choicesOf(item);
    if (length > 0) this.choiceCounts.push(length);
  }

  #addValue(key: string, value: JsonValue): void {
    const known = this.#metaValues.get(key);
    if (known === null || (known === undefined && this.#metaValues.size >= MAX_META_KEYS)) return;
    const text = plainText(value, MAX_VALUE);
    const values = known ?? new Map<string, number>();
    increment(values, text);
    const isSliced = values.size <= MAX_SLICES && text.length < MAX_VALUE;
    this.#metaValues.set(key, isSliced || isNumber(text) ? values : null);
  }

  /** @param isWhole whether these are all items */
  end(isWhole: boolean) {
    const values = [...this.#metaValues];
    return {
      ...this,
      isWhole,
      metaKeys: values.map(([pointer]) => pointer),
      /** Those whose values are few and short, so that results can be sliced by them. */
      slicingKeys: values.flatMap(([pointer, counts]) =>
        counts === null || counts.size > MAX_SLICES ? [] : [pointer],
      ),
      /** How often each value occurs, by the key of its column in the list of items, if the values are few or numbers. */
      values: new Map<string, ReadonlyMap<string, number>>(
        [
          ['type', this.types] as const,
          ['tags', this.tags] as const,
          ['answer', this.#answers] as const,
          ...values.map(([pointer, counts]) => [`meta.${pointer}`, counts] as const),
        ].flatMap(([key, counts]) =>
          counts !== null && (counts.size <= MAX_SLICES || [...counts.keys()].every(isNumber))
            ? [[key, counts] as const]
            : [],
        ),
      ),
    };
  }
}

export type Overview = ReturnType<Counts['end']>;

const isNumber = (text: string): boolean => /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text);

function lengthOf(item: JsonObject): number {
  const prompt = textIn(objectIn(item, 'inputs'), 'prompt');
  if (prompt !== undefined) return prompt.length;
  const parts = messagesOf(item)?.flatMap((message) => message.parts);
  return (
    parts?.reduce((sum, part) => sum + (part.kind === 'text' ? part.text.length : 0), 0) ??
    textOrJson(getMember(item, 'inputs') ?? item).length
  );
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
