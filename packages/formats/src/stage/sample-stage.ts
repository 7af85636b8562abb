import { createHash } from 'node:crypto';
import type { ImportMeter } from '@svc/jsonl-v23/imports';
import {
  canonicalJson,
  getMember,
  type JsonObject,
  type JsonValue,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import { type ByteSource, type ExportResult, PackageError, type PackageLimits } from '@svc/pkg-format';
import { createYielder } from '@svc/tabular';
import type { LostCounter } from '../lost.ts';
import { invalidLine } from '../read-json.ts';
import { type ToolResult, type ToolRun, type ToolSample, toolError } from '../tool.ts';
import { KeyNumbers } from './key-numbers.ts';
import { LineFile } from './line-file.ts';
import { StagedScorers } from './staged-scorers.ts';

/** How often a run executes an item at most, as in packages. */
const MAX_REPETITIONS = 100;
const MAX_SECTIONS = 1_000;
/** Bytes of the hash of an item that are compared if keys are equal. */
const HASH_BYTES = 6;
const BATCH_RESULTS = 100;
/** Results that are sorted in well under a millisecond. */
const TURN_RESULTS = 1024;
const UTF_8 = new TextDecoder();

export interface StageOptions {
  readonly limits: PackageLimits;
  readonly meter: ImportMeter;
  readonly lost: LostCounter;
  readonly keepSource: boolean;
  /** Called with the bytes of a line before it is written; the stage waits for it. */
  readonly addBytes?: ((bytes: number) => Promise<void>) | undefined;
}

interface StagedSection {
  readonly index: number;
  readonly name: string;
  readonly items: LineFile;
  itemCount: number;
}

/**
 * Puts samples, which come in any order, into the order of a package: items by their first sample, results by item and
 * repetition. Samples go to files in a folder; memory holds about 150 bytes for each.
 */
export class SampleStage implements AsyncDisposable {
  readonly #folder: string;
  readonly #options: StageOptions;
  readonly #sections = new Map<string, StagedSection>();
  readonly #keys = new KeyNumbers();
  /**
   * Five values for each item: its section, its position there, its number of results so far, the beginning of its hash, and
   * its number among the items with its key. For the first of them, the last value is their count.
   */
  readonly #itemSections: number[] = [];
  readonly #itemOrders: number[] = [];
  readonly #itemResults: number[] = [];
  readonly #itemHashes: number[] = [];
  readonly #itemVariants: number[] = [];
  /** The item, the stated repetition or 0, the part and its source, and the position in the file of each result. */
  readonly #resultItems: number[] = [];
  readonly #resultRepetitions: number[] = [];
  readonly #resultParts: number[] = [];
  readonly #resultSources: number[] = [];
  readonly #resultStarts: number[] = [];
  readonly #parts = new KeyNumbers();
  readonly #results: LineFile;
  /** The section of the last sample: only its lines wait in memory. */
  #current: StagedSection | null = null;
  readonly #scorers: StagedScorers;
  #namedMain: string | null = null;
  #repetitions = 1;

  constructor(folder: string, options: StageOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#scorers = new StagedScorers(options.lost);
    this.#results = new LineFile(`${folder}-results`);
  }

  get lost(): LostCounter {
    return this.#options.lost;
  }

  get itemCount(): number {
    return this.#keys.size;
  }

  /** The highest repetition, as soon as the results have been counted. */
  get repetitions(): number {
    return this.#repetitions;
  }

  /**
   * Adds a sample. Samples with one key and equal items have the same item; a different item with the key becomes an item
   * of its own.
   * @throws PackageError `package_limit`, `package_invalid_line`, JsonlError `package_limit`, with the location of the sample
   */
  async add(sample: ToolSample): Promise<void> {
    const { section, result, location } = sample;
    this.#options.meter.addRows(1, location);
    const staged = this.#section(section, location);
    if (this.#current !== staged) await this.#current?.items.flush();
    this.#current = staged;
    const found = await this.#itemOf(staged, sample);
    if (result === null || found === null) return;
    const { number, item } = found;
    const { repetition: stated = null, part = null } = result;
    if (part === null) {
      const count = (this.#itemResults[number] ?? 0) + 1;
      checkRepetition(stated ?? count, location);
      checkRepetition(count, location);
      this.#itemResults[number] = count;
    }
    const scores = this.#scorers.add(section, result.scores, location);
    this.#resultItems.push(number);
    this.#resultRepetitions.push(stated ?? 0);
    this.#resultParts.push(part === null ? 0 : this.#parts.numberOf(part.name).number);
    this.#resultSources.push(part === null ? -1 : part.source);
    this.#resultStarts.push(this.#results.bytes);
    await this.#write(this.#results, encodeResult({ ...result, scores }, item), location);
  }

  async flush(run: ToolRun | null): Promise<void> {
    this.#scorers.decide(run?.statedMean ?? (() => undefined));
    this.#namedMain = run?.mainScorer ?? null;
    await this.#results.flush();
    for (const { items } of this.#sections.values()) await items.flush();
  }

  sections(): { readonly name: string; readonly items: AsyncIterable<JsonObject> }[] {
    const { maxDepth } = this.#options.limits;
    return Array.from(this.#sections.values(), ({ name, items }) => ({
      name,
      items: items.values(maxDepth),
    }));
  }

  async *results(): AsyncGenerator<ExportResult[]> {
    const sections = Array.from(this.#sections.values(), ({ name }) => {
      const taken = this.#scorers.takenIn(name);
      return { name, taken, main: this.#mainOf(taken) };
    });
    const file = this.#results.source();
    let batch: ExportResult[] = [];
    for await (const { item, repetition, parts } of this.#ordered()) {
      const section = sections[this.#itemSections[item] ?? 0] as (typeof sections)[number];
      const place = { section: section.name, order_index: this.#itemOrders[item] ?? 0, repetition };
      const [first, ...others] = parts;
      let value = await this.#read(file, first ?? 0);
      for (const other of others) value = merge(value, await this.#read(file, other));
      batch.push(toResult(place, value, section));
      if (batch.length < BATCH_RESULTS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** The scorer that gives the results their scores, if it is the same in all sections. */
  get mainScorer(): string | null {
    const mains = new Set(
      Array.from(this.#sections.values(), ({ name }) => this.#mainOf(this.#scorers.takenIn(name))),
    );
    mains.delete(null);
    const [main = null, second] = mains;
    return second === undefined ? main : null;
  }

  #mainOf(taken: ReadonlySet<string>): string | null {
    const [first = null] = taken;
    return this.#namedMain !== null && taken.has(this.#namedMain) ? this.#namedMain : first;
  }

  async countResults(): Promise<number> {
    let count = 0;
    for await (const _ of this.#ordered()) count += 1;
    return count;
  }

  async *#ordered() {
    const order = await this.#order();
    const nextTurn = createYielder();
    for (let at = 0; at < order.length; ) {
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      const item = this.#resultItems[order[at] ?? 0] ?? 0;
      const results: number[] = [];
      for (; at < order.length && this.#resultItems[order[at] ?? 0] === item; at += 1) {
        results.push(order[at] ?? 0);
      }
      const repetitions = [...this.#repetitionsOf(results)].sort(([a], [b]) => a - b);
      for (const [repetition, { parts }] of repetitions) {
        this.#repetitions = Math.max(this.#repetitions, repetition);
        yield { item, repetition, parts: [...parts.values()] };
      }
    }
  }

  /**
   * The results of an item by repetition. Results that state a repetition have it, unless an earlier one does; all
   * others get the next free one. The parts of one source stay together, until one of them is repeated.
   */
  #repetitionsOf(results: readonly number[]): ReadonlyMap<number, Repetition> {
    const found = new Map<number, Repetition>();
    const others: number[] = [];
    for (const result of results) {
      const stated = this.#resultRepetitions[result] ?? 0;
      if (stated === 0 || found.has(stated)) others.push(result);
      else found.set(stated, { source: -1, parts: new Map([[0, result]]) });
    }
    let next = 1;
    for (const result of others) {
      const source = this.#resultSources[result] ?? 0;
      const part = this.#resultParts[result] ?? 0;
      const open =
        source === -1
          ? undefined
          : [...found.values()].find((one) => one.source === source && !one.parts.has(part));
      if (open !== undefined) {
        open.parts.set(part, result);
        continue;
      }
      while (found.has(next)) next += 1;
      checkRepetition(next, {});
      found.set(next, { source, parts: new Map([[part, result]]) });
    }
    return found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#results.close();
    for (const { items } of this.#sections.values()) await items.close();
  }

  /** The numbers of the results by their items: a counting sort, which no order of samples makes slow. */
  async #order(): Promise<Uint32Array> {
    const starts: number[] = [];
    let itemCount = 0;
    for (const section of this.#sections.values()) {
      starts.push(itemCount);
      itemCount += section.itemCount;
    }
    const rankOf = (result: number): number => {
      const item = this.#resultItems[result] ?? 0;
      return (starts[this.#itemSections[item] ?? 0] ?? 0) + (this.#itemOrders[item] ?? 0);
    };
    const places = new Uint32Array(itemCount + 1);
    const order = new Uint32Array(this.#resultItems.length);
    await inTurns(order.length, (result) => {
      const next = rankOf(result) + 1;
      places[next] = (places[next] ?? 0) + 1;
    });
    await inTurns(itemCount, (rank) => {
      places[rank + 1] = (places[rank + 1] ?? 0) + (places[rank] ?? 0);
    });
    await inTurns(order.length, (result) => {
      const rank = rankOf(result);
      const place = places[rank] ?? 0;
      order[place] = result;
      places[rank] = place + 1;
    });
    return order;
  }

  async #read(file: ByteSource, index: number): Promise<JsonObject> {
    const isLast = index + 1 === this.#resultItems.length;
    const end = isLast ? this.#results.bytes : (this.#resultStarts[index + 1] ?? 0);
    const bytes = await file.read(this.#resultStarts[index] ?? 0, end);
    return parseJson(UTF_8.decode(bytes), { maxDepth: this.#options.limits.maxDepth + 8 }) as JsonObject;
  }

  /** The item of a sample, which is written if it is new; null if several items have its key. */
  async #itemOf(
    staged: StagedSection,
    sample: ToolSample,
  ): Promise<{ readonly number: number; readonly item: JsonObject } | null> {
    const { key, item, hasKeyOnly = false, isKnown = false, isOwn = false, sourceRow, location } = sample;
    const { lost } = this.#options;
    const sectionKey = `${staged.index}\0${key}`;
    const digest = createHash('sha256').update(canonicalJson(item)).digest();
    const hash = digest.readUIntBE(0, HASH_BYTES);
    if (isKnown && !this.#keys.has(sectionKey)) {
      lost.add('results of unknown items', location);
      return null;
    }
    const first = this.#keys.numberOf(sectionKey);
    if (first.isNew) return await this.#addItem(staged, item, { hash, variant: 1, sourceRow, location });
    const variants = this.#itemVariants[first.number] ?? 0;
    if (hasKeyOnly && variants > 1) {
      lost.add('results that fit several items', location);
      return null;
    }
    if (hasKeyOnly || this.#itemHashes[first.number] === hash) return { number: first.number, item };
    // The hash comes first, so that no key of a tool is the same text.
    const { number, isNew } = this.#keys.numberOf(`${digest.toString('hex')}\0${sectionKey}`);
    const variant = isNew ? variants + 1 : (this.#itemVariants[number] ?? 0);
    const { id = null } = item;
    const distinct = isOwn || id === null ? item : { ...item, id: `${String(id)}-${variant}` };
    if (!isNew) return { number, item: distinct };
    this.#itemVariants[first.number] = variant;
    if (distinct !== item) lost.add('ids that another item has', location);
    return await this.#addItem(staged, distinct, { hash, variant, sourceRow, location });
  }

  async #addItem(
    staged: StagedSection,
    item: JsonObject,
    {
      hash,
      variant,
      sourceRow,
      location,
    }: Pick<ToolSample, 'sourceRow' | 'location'> & { readonly hash: number; readonly variant: number },
  ): Promise<{ readonly number: number; readonly item: JsonObject }> {
    const number = this.#itemSections.length;
    this.#itemSections.push(staged.index);
    this.#itemOrders.push(staged.itemCount);
    this.#itemResults.push(0);
    this.#itemHashes.push(hash);
    this.#itemVariants.push(variant);
    staged.itemCount += 1;
    await this.#write(staged.items, this.#withSource(item, sourceRow), location);
    return { number, item };
  }

  #section(name: string, location: ToolSample['location']): StagedSection {
    const known = this.#sections.get(name);
    if (known !== undefined) return known;
    const index = this.#sections.size;
    if (index === MAX_SECTIONS) {
      throw new PackageError('package_limit', `A dataset must have at most ${MAX_SECTIONS} sections.`, {
        location,
      });
    }
    const items = new LineFile(`${this.#folder}-items-${index}`);
    const section = { index, name, items, itemCount: 0 };
    this.#sections.set(name, section);
    return section;
  }

  #withSource(item: JsonObject, row: JsonValue | undefined): JsonObject {
    if (!this.#options.keepSource || row === undefined) return item;
    const { meta } = item;
    return { ...item, meta: { ...(meta as JsonObject | undefined), source_row: row } };
  }

  async #write(file: LineFile, value: JsonObject, location: ToolSample['location']): Promise<void> {
    const { limits, meter, addBytes } = this.#options;
    const line = `${canonicalJson(value)}\n`;
    const bytes = Buffer.byteLength(line);
    if (bytes > limits.maxLineBytes) {
      const message = `The sample must have at most ${limits.maxLineBytes} bytes.`;
      throw new PackageError('package_limit', message, { location });
    }
    meter.addItems({ bytes }, location);
    await addBytes?.(bytes);
    await file.add(line, bytes);
  }
}

/** One repetition of an item: its results by part, and the source of the parts, or -1 without parts. */
interface Repetition {
  readonly source: number;
  readonly parts: Map<number, number>;
}

function checkRepetition(repetition: number, location: ToolSample['location']): void {
  if (repetition <= MAX_REPETITIONS && repetition >= 1 && Number.isInteger(repetition)) return;
  throw invalidLine(
    `An item must have 1 to ${MAX_REPETITIONS} repetitions, got repetition ${repetition}`,
    location,
  );
}

async function inTurns(count: number, work: (index: number) => void): Promise<void> {
  const nextTurn = createYielder();
  for (let start = 0; start < count; start += TURN_RESULTS) {
    const end = Math.min(count, start + TURN_RESULTS);
    for (let index = start; index < end; index += 1) work(index);
    const turn = nextTurn();
    if (turn !== undefined) await turn;
  }
}

function merge(value: JsonObject, other: JsonObject): JsonObject {
  const scores = { ...(other['scores'] as JsonObject), ...(value['scores'] as JsonObject) };
  return { ...value, scores };
}

function toResult(
  place: { readonly section: string; readonly order_index: number; readonly repetition: number },
  value: JsonObject,
  { taken, main }: { readonly taken: ReadonlySet<string>; readonly main: string | null },
): ExportResult {
  const { error = null, scores: staged, ...rest } = value;
  const scores: JsonObject = {};
  for (const [name, one] of Object.entries(staged as JsonObject)) {
    if (taken.has(name)) setMember(scores, name, one);
  }
  const byMain = main === null ? undefined : getMember(scores, main);
  const { score = null, passed = null, explanation = null } = (byMain ?? {}) as JsonObject;
  const hasScores = Object.keys(scores).length > 0;
  const status = score !== null ? 'ok' : error !== null ? 'failed' : 'unscored';
  return {
    ...{ ...place, ...rest, status, score, passed, explanation },
    error: status === 'ok' ? null : error,
    scores: hasScores ? scores : null,
    scored_by: score === null ? null : 'client',
  };
}

function encodeResult(result: ToolResult, item: JsonObject): JsonObject {
  const {
    output,
    reasoning = null,
    error,
    scores,
    latencyMs = null,
    usage = null,
    finishReason = null,
    traceId = null,
  } = result;
  const id = getMember(item, 'id') ?? null;
  return {
    output,
    ...(reasoning === null ? {} : { reasoning }),
    ...(error === null ? {} : { error: toolError(error) }),
    item_id: typeof id === 'string' || Number.isInteger(id) ? id : null,
    latency_ms: latencyMs !== null && latencyMs >= 0 ? Math.round(latencyMs * 10) / 10 : null,
    usage,
    finish_reason: finishReason !== null && /^[\w.-]{1,64}$/.test(finishReason) ? finishReason : null,
    trace_id: traceId !== null && /^[^\p{Cc}]{1,255}$/u.test(traceId) ? traceId : null,
    scores: Object.fromEntries(
      Array.from(scores, ([name, { score, passed, explanation }]) => [
        name,
        { score, passed, explanation, scored_by: 'client' },
      ]),
    ),
  };
}
