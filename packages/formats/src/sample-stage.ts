import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type ImportMeter, linesOf, splitLines } from '@svc/jsonl-v23/internal';
import { canonicalJson, getMember, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { type ExportResult, PackageError, type PackageLimits } from '@svc/pkg-format';
import { createYielder } from '@svc/tabular/internal';
import { KeyNumbers } from './key-numbers.ts';
import type { LostCounter } from './lost.ts';
import { NumberList } from './number-list.ts';
import { invalidLine } from './read-json.ts';
import { type ToolResult, type ToolSample, type ToolScore, toolError } from './tool.ts';
import { WindowReader } from './window-reader.ts';

/** How often a run executes an item at most, as in packages. */
const MAX_REPETITIONS = 100;
const MAX_SECTIONS = 1_000;
/** Scorers of one run; a package has no more. */
const MAX_SCORERS = 16;
const BATCH_RESULTS = 100;
/** Results that are sorted in well under a millisecond. */
const TURN_RESULTS = 1024;
const BLOCK_BYTES = 256 * 1024;

export interface StageOptions {
  readonly limits: PackageLimits;
  readonly meter: ImportMeter;
  /** Counts what has no place. */
  readonly lost: LostCounter;
  /** Whether items keep the row that the tool read them from. */
  readonly keepSource: boolean;
  /** Is awaited with the bytes of all files before more is written. */
  readonly makeRoom?: ((bytes: number) => Promise<void>) | undefined;
}

interface StagedSection {
  readonly index: number;
  readonly name: string;
  readonly items: LineFile;
  itemCount: number;
  /** The scorer whose scores are those of the results: a task has its own. */
  mainScorer: string | null;
}

/**
 * Puts samples, which come in any order, into the order of a package: items by their first sample, results by item and
 * repetition. Samples go to files in a folder; memory holds about 80 bytes for each.
 */
export class SampleStage implements AsyncDisposable {
  readonly #folder: string;
  readonly #options: StageOptions;
  readonly #sections = new Map<string, StagedSection>();
  readonly #keys = new KeyNumbers();
  /** Three values for each item: its section, its position there, and its number of results so far. */
  readonly #itemSections = new NumberList();
  readonly #itemOrders = new NumberList();
  readonly #itemResults = new NumberList();
  /** The item, the repetition and the position in the file of each result. */
  readonly #resultItems = new NumberList();
  readonly #resultRepetitions = new NumberList();
  readonly #resultStarts = new NumberList();
  readonly #results: LineFile;
  /** The section of the last sample: only its lines wait in memory. */
  #current: StagedSection | null = null;
  /** Names of the scorers of the run. */
  readonly #scorers = new Set<string>();
  #bytes = 0;
  #repetitions = 1;

  /** @param folder that exists, for the files */
  constructor(folder: string, options: StageOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#results = new LineFile(join(folder, 'results'));
  }

  get itemCount(): number {
    return this.#keys.size;
  }

  /** The highest repetition. */
  get repetitions(): number {
    return this.#repetitions;
  }

  /**
   * Adds a sample. Of several results of one repetition, the scores are put together.
   *
   * @throws PackageError `package_limit`, `package_invalid_line`, JsonlError `package_limit`, with the location of the sample
   */
  async add({ section, key, item, sourceRow, result, location }: ToolSample): Promise<void> {
    this.#options.meter.addRows(1, location);
    const staged = this.#section(section, location);
    if (this.#current !== staged) await this.#current?.items.flush();
    this.#current = staged;
    const { number, isNew } = this.#keys.numberOf(`${staged.index}\0${key}`);
    if (isNew) {
      this.#itemSections.push(staged.index);
      this.#itemOrders.push(staged.itemCount);
      this.#itemResults.push(0);
      staged.itemCount += 1;
      await this.#write(staged.items, this.#withSource(item, sourceRow), location);
    }
    if (result === null) return;
    const repetition = result.repetition ?? this.#itemResults.at(number) + 1;
    if (repetition > MAX_REPETITIONS || repetition < 1 || !Number.isInteger(repetition)) {
      throw invalidLine(
        `An item must have 1 to ${MAX_REPETITIONS} repetitions, got repetition ${repetition}`,
        location,
      );
    }
    this.#itemResults.set(number, Math.max(this.#itemResults.at(number), repetition));
    this.#repetitions = Math.max(this.#repetitions, repetition);
    const scores = this.#ofScorers(result.scores, location);
    staged.mainScorer ??= scores.keys().next().value ?? null;
    this.#resultItems.push(number);
    this.#resultRepetitions.push(repetition);
    this.#resultStarts.push(this.#results.bytes);
    await this.#write(this.#results, encodeResult({ ...result, scores }, item), location);
  }

  /** Ends writing. */
  async flush(): Promise<void> {
    await this.#results.flush();
    for (const { items } of this.#sections.values()) await items.flush();
  }

  /** The sections in order, with their items. */
  sections(): { readonly name: string; readonly items: AsyncIterable<JsonObject> }[] {
    const { maxDepth } = this.#options.limits;
    return Array.from(this.#sections.values(), ({ name, items }) => ({
      name,
      items: items.values(maxDepth),
    }));
  }

  /** The results in the order of a package. */
  async *results(): AsyncGenerator<ExportResult[]> {
    const sections = [...this.#sections.values()];
    await using file = await WindowReader.open(this.#results.path);
    let batch: ExportResult[] = [];
    for await (const { item, repetition, parts } of this.#ordered()) {
      const section = sections[this.#itemSections.at(item)] as StagedSection;
      const place = { section: section.name, order_index: this.#itemOrders.at(item), repetition };
      const [first, ...others] = parts;
      let value = await this.#read(file, first ?? 0);
      for (const other of others) value = merge(value, await this.#read(file, other));
      batch.push(toResult(place, value, section.mainScorer));
      if (batch.length < BATCH_RESULTS) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** Counts the results. */
  async countResults(): Promise<number> {
    let count = 0;
    for await (const _ of this.#ordered()) count += 1;
    return count;
  }

  /** The repetitions of items in the order of a package, each with the numbers of the results that it is put together from. */
  async *#ordered(): AsyncGenerator<{
    readonly item: number;
    readonly repetition: number;
    readonly parts: readonly number[];
  }> {
    const order = await this.#order();
    const nextTurn = createYielder();
    for (let at = 0; at < order.length; ) {
      const turn = nextTurn();
      if (turn !== undefined) await turn;
      const item = this.#resultItems.at(order[at] ?? 0);
      const byRepetition = new Map<number, number[]>();
      for (; at < order.length && this.#resultItems.at(order[at] ?? 0) === item; at += 1) {
        const result = order[at] ?? 0;
        const repetition = this.#resultRepetitions.at(result);
        const parts = byRepetition.get(repetition);
        if (parts === undefined) byRepetition.set(repetition, [result]);
        else parts.push(result);
      }
      const repetitions = [...byRepetition].sort(([a], [b]) => a - b);
      for (const [repetition, parts] of repetitions) yield { item, repetition, parts };
    }
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
      const item = this.#resultItems.at(result);
      return (starts[this.#itemSections.at(item)] ?? 0) + this.#itemOrders.at(item);
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

  async #read(file: WindowReader, index: number): Promise<JsonObject> {
    const isLast = index + 1 === this.#resultItems.length;
    const end = isLast ? this.#results.bytes : this.#resultStarts.at(index + 1);
    const bytes = await file.read(this.#resultStarts.at(index), end);
    return parseJson(bytes.toString(), { maxDepth: this.#options.limits.maxDepth + 8 }) as JsonObject;
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
    const items = new LineFile(join(this.#folder, `items-${index}`));
    const section = { index, name, items, itemCount: 0, mainScorer: null };
    this.#sections.set(name, section);
    return section;
  }

  /** The scores of those scorers that the run has place for. */
  #ofScorers(scores: ToolResult['scores'], location: ToolSample['location']): ReadonlyMap<string, ToolScore> {
    const kept = new Map<string, ToolScore>();
    for (const [name, score] of scores) {
      if (this.#scorers.size < MAX_SCORERS) this.#scorers.add(name);
      if (this.#scorers.has(name)) kept.set(name, score);
    }
    const count = scores.size - kept.size;
    this.#options.lost.add(`scores of scorers beyond ${MAX_SCORERS}`, location, count);
    return kept;
  }

  #withSource(item: JsonObject, row: JsonValue | undefined): JsonObject {
    if (!this.#options.keepSource || row === undefined) return item;
    const { meta } = item;
    return { ...item, meta: { ...(meta as JsonObject | undefined), source_row: row } };
  }

  async #write(file: LineFile, value: JsonObject, location: ToolSample['location']): Promise<void> {
    const { limits, meter, makeRoom } = this.#options;
    const line = `${canonicalJson(value)}\n`;
    const bytes = Buffer.byteLength(line);
    this.#bytes += bytes;
    if (bytes > limits.maxLineBytes) {
      const message = `The sample must have at most ${limits.maxLineBytes} bytes.`;
      throw new PackageError('package_limit', message, { location });
    }
    meter.addItems({ bytes }, location);
    await makeRoom?.(this.#bytes);
    await file.add(line, bytes);
  }
}

/** Does something for each number below `count`, and lets the event loop turn between them. */
async function inTurns(count: number, work: (index: number) => void): Promise<void> {
  const nextTurn = createYielder();
  for (let start = 0; start < count; start += TURN_RESULTS) {
    const end = Math.min(count, start + TURN_RESULTS);
    for (let index = start; index < end; index += 1) work(index);
    const turn = nextTurn();
    if (turn !== undefined) await turn;
  }
}

/** Two results of one repetition: the first one, with the scores of both. */
function merge(value: JsonObject, other: JsonObject): JsonObject {
  const scores = { ...(other['scores'] as JsonObject), ...(value['scores'] as JsonObject) };
  return { ...value, scores };
}

function toResult(
  place: { readonly section: string; readonly order_index: number; readonly repetition: number },
  value: JsonObject,
  mainScorer: string | null,
): ExportResult {
  const { error = null, scores, ...rest } = value;
  const main = mainScorer === null ? undefined : getMember(scores as JsonObject, mainScorer);
  const { score = null, passed = null, explanation = null } = (main ?? {}) as JsonObject;
  const hasScores = Object.keys(scores as JsonObject).length > 0;
  const status = score !== null ? 'ok' : error !== null ? 'failed' : 'unscored';
  return {
    ...{ ...place, ...rest, status, score, passed, explanation },
    error: status === 'ok' ? null : error,
    scores: hasScores ? (scores as JsonValue) : null,
    scored_by: score === null ? null : 'client',
  };
}

function encodeResult(result: ToolResult, item: JsonObject): JsonObject {
  const {
    output,
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
    ...(error === null ? {} : { error: toolError(error) }),
    item_id: typeof id === 'string' || Number.isInteger(id) ? id : null,
    latency_ms: latencyMs !== null && latencyMs >= 0 ? Math.round(latencyMs * 10) / 10 : null,
    usage,
    finish_reason: finishReason !== null && /^[\w.-]{1,64}$/.test(finishReason) ? finishReason : null,
    trace_id: traceId,
    scores: Object.fromEntries(
      Array.from(scores, ([name, { score, explanation }]) => [
        name,
        // A partial score neither passes nor fails.
        { score, passed: score === 1 ? true : score === 0 ? false : null, explanation, scored_by: 'client' },
      ]),
    ),
  };
}

/** A file of lines that is written, then read. */
class LineFile {
  readonly path: string;
  bytes = 0;
  #file: FileHandle | null = null;
  #waiting: string[] = [];
  #waitingBytes = 0;

  constructor(path: string) {
    this.path = path;
  }

  async add(line: string, bytes: number): Promise<void> {
    this.bytes += bytes;
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    if (this.#waitingBytes >= BLOCK_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    this.#file ??= await open(this.path, 'wx+', 0o600);
    await this.#file.writeFile(this.#waiting.join(''));
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  async *values(maxDepth: number): AsyncGenerator<JsonObject> {
    const decoder = new TextDecoder();
    for await (const batch of splitLines(createReadStream(this.path), {
      maxLineBytes: Number.MAX_SAFE_INTEGER,
    })) {
      for (const { bytes } of linesOf(batch)) {
        yield parseJson(decoder.decode(bytes), { maxDepth: maxDepth + 8 }) as JsonObject;
      }
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}
