import { isJsonObject, type JsonObject, JsonStream, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { type Archive, openArchive, PackageError, type PackageLimits } from '@svc/pkg-format';
import { decompress, TableError } from '@svc/tabular';
import {
  bytesOf,
  datasetName,
  elementsOf,
  filled,
  isFilled,
  isoTime,
  memberOf,
  membersOf,
  nextValue,
  numberOf,
  pick,
  textOf,
  ValueBudget,
} from '../read-json.ts';
import { scorerName } from '../scores.ts';
import type { ReadContext, ToolContent, ToolFile, ToolRun, ToolSample } from '../tool.ts';
import { toSample } from './inspect-sample.ts';

const LOG_VERSION = 2;

/** Members of a sample that are read whole; all others are passed over, and counted if they hold something. */
const READ: ReadonlySet<string> = new Set([
  ...['id', 'epoch', 'input', 'choices', 'target', 'metadata', 'output', 'messages', 'scores', 'attachments'],
  ...['model_usage', 'error', 'started_at', 'completed_at', 'total_time', 'working_time', 'uuid', 'limit'],
]);
/** Members that only repeat the ones that are read. */
const REPEATED: ReadonlySet<string> = new Set([
  'role_usage',
  'turn_count',
  'token_limit',
  'token_limit_type',
]);

export async function readInspect(files: readonly ToolFile[], context: ReadContext): Promise<ToolContent> {
  const [file, second] = files;
  if (file === undefined || second !== undefined) {
    const message = 'Logs of Inspect must come one at a time: each is a separate run.';
    throw new PackageError('package_unsupported', message, { entry: second?.name ?? '' });
  }
  const head = await file.source.read(0, Math.min(2, file.source.byteLength));
  return head[0] === 0x50 && head[1] === 0x4b
    ? await readArchive(file, context)
    : await readDocument(file, context);
}

/** Opens an archive whose entries may be compressed as in a log. @throws PackageError */
export const openLog = ({ source }: ToolFile, limits?: ReadContext['limits']): Promise<Archive> =>
  openArchive(source, limits, () => Promise.resolve(), inflateZstd);

async function readArchive(file: ToolFile, context: ReadContext): Promise<ToolContent> {
  const { limits, signal } = context;
  const archive = await openLog(file, limits);
  // An archive with nothing but a journal is read from its only folder.
  const pathOf = (path: string): string | null =>
    [path, path.replace('_journal/', '')].find((one) => archive.files.has(one)) ?? null;
  const headerPath = pathOf('header.json') ?? pathOf('_journal/start.json');
  if (headerPath === null) {
    const message =
      'The archive has neither header.json nor _journal/start.json: it is not a log of Inspect.';
    throw new PackageError('package_unsupported', message, { entry: file.name });
  }
  const { header, order } = await readHeader(archive, headerPath, context);
  checkVersion(header, headerPath);
  const task = taskOf(header);
  async function* samples(): AsyncGenerator<ToolSample, ToolRun> {
    const seen = new Set<string>();
    for (const path of samplePaths(archive, order)) {
      seen.add(path);
      await using json = streamOf(archive, path, context);
      const sample = await readSample(json, context);
      // At the end of an entry its CRC-32 is compared.
      await json.end();
      yield toSample(sample, task, context, context.lost.at({ file: path }));
    }
    for (const path of archive.files.keys()) {
      if (/^samples\/.*\/sample\.json$/.test(path)) context.lost.add('samples in pieces', { file: path });
      if (!/^(?:_journal\/)?summaries\/\d+\.json$/.test(path)) continue;
      for (const summary of elementsOf(await readEntryValue(archive, path, context))) {
        const name = `samples/${memberOf(summary, 'id')}_epoch_${memberOf(summary, 'epoch')}.json`;
        if (!isJsonObject(summary) || seen.has(name) || archive.files.has(name)) continue;
        seen.add(name);
        const place = context.lost.at({ file: path });
        place.lost('samples with nothing but a summary');
        yield toSample({ ...summary, error: null }, task, context, place);
      }
    }
    signal?.throwIfAborted();
    return toRun(header);
  }
  return { name: task, samples: samples() };
}

function samplePaths(archive: Archive, order: ReadonlyMap<string, number>): readonly string[] {
  const found = [...archive.files.keys()].flatMap((path, index) => {
    const [, id, epoch] = SAMPLE_PATH.exec(path) ?? [];
    return id === undefined
      ? []
      : [{ path, epoch: Number(epoch), place: order.get(id) ?? order.size + index }];
  });
  return found.sort((a, b) => a.place - b.place || a.epoch - b.epoch).map(({ path }) => path);
}

const SAMPLE_PATH = /^samples\/(.+)_epoch_(\d+)\.json$/;

async function readDocument(file: ToolFile, context: ReadContext): Promise<ToolContent> {
  async function* samples(): AsyncGenerator<ToolSample, ToolRun> {
    const { limits, signal } = context;
    const reader = new HeaderReader(limits);
    const { header } = reader;
    const options = { file: file.name, maxDepth: limits.maxDepth, maxValueLength: limits.maxLineBytes };
    await using json = new JsonStream(bytesOf(file, signal), options);
    for await (const key of json.members()) {
      if (key === 'samples' && (await json.peek()) === 'array') {
        checkVersion(header, file.name);
        for await (const index of json.items()) {
          const location = { file: file.name, path: `/samples/${index}` };
          const sample = await readSample(json, context);
          yield toSample(sample, taskOf(header), context, context.lost.at(location));
        }
      } else await reader.read(json, key);
    }
    await json.end();
    checkVersion(header, file.name);
    return toRun(header);
  }
  return { name: datasetName(file.name.replace(/\.json$/i, '')), samples: samples() };
}

function inflateZstd(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return decompress('zstd', () => packed);
}

function streamOf(archive: Archive, path: string, { limits, signal }: ReadContext): JsonStream {
  async function* bytes(): AsyncGenerator<Uint8Array> {
    try {
      yield* archive.read(path, { ...(signal && { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof PackageError) throw error;
      const isUnknown = error instanceof TableError;
      const message = isUnknown ? error.message : `Entry "${path}" is not valid zstd.`;
      const code = isUnknown ? 'package_unsupported' : 'package_corrupt';
      throw new PackageError(code, message, { entry: path, cause: error });
    }
  }
  const options = { file: path, maxDepth: limits.maxDepth, maxValueLength: limits.maxLineBytes };
  return new JsonStream(bytes(), options);
}

async function readEntryValue(archive: Archive, path: string, context: ReadContext): Promise<JsonValue> {
  await using json = streamOf(archive, path, context);
  const value = await nextValue(json, context.limits);
  await json.end();
  return value;
}

async function readHeader(archive: Archive, path: string, context: ReadContext): Promise<HeaderReader> {
  const ids = [...archive.files.keys()].flatMap((name) => SAMPLE_PATH.exec(name)?.[1] ?? []);
  const reader = new HeaderReader(context.limits, new Set(ids));
  await using json = streamOf(archive, path, context);
  if ((await json.peek()) !== 'object') {
    throw new PackageError('package_invalid_json', 'The header of the log must be an object.', {
      entry: path,
    });
  }
  for await (const key of json.members()) await reader.read(json, key);
  await json.end();
  return reader;
}

async function readSample(json: JsonStream, { limits, lost }: ReadContext): Promise<JsonObject> {
  const sample: JsonObject = {};
  const budget = new ValueBudget(limits, limits.maxLineBytes);
  for await (const key of json.members()) {
    const { location } = json;
    if (READ.has(key)) {
      // An infinite score is a score; NaN is none.
      sample[key] = await budget.next(json, key === 'scores' ? '1e999' : 'null');
    } else if (!REPEATED.has(key)) {
      const kind = await json.peek();
      if (kind === 'array') lost.add(key, location, await countOf(json.items()));
      else if (kind === 'object') lost.add(key, location, Math.min(1, await countOf(json.members())));
      else if (kind !== 'null' && isFilled(await json.value())) lost.add(key, location);
    }
  }
  return sample;
}

async function countOf(passed: AsyncIterable<unknown>): Promise<number> {
  let count = 0;
  for await (const _ of passed) count += 1;
  return count;
}

function checkVersion(header: JsonObject, entry: string): void {
  const version = header['version'] ?? null;
  if (version === LOG_VERSION && isJsonObject(header['eval'])) return;
  const stated = typeof version === 'number' ? String(version) : 'none';
  const message = `Logs of Inspect must have version ${LOG_VERSION} and begin with their eval, got version ${stated}.`;
  throw new PackageError('package_unsupported', message, { entry });
}

const taskOf = (header: JsonObject): string =>
  datasetName(textOf(memberOf(header['eval'], 'task')) ?? 'inspect');

function toRun(header: JsonObject): ToolRun {
  const spec = membersOf(header['eval']);
  const stats = membersOf(header['stats']);
  const status = textOf(header['status']);
  const stated = elementsOf(memberOf(header['results'], 'scores'));
  const scores = stated.map((score) => ({
    name: memberOf(score, 'name'),
    metrics: Object.fromEntries(
      Object.entries(membersOf(memberOf(score, 'metrics'))).map(([name, metric]) => [
        name,
        memberOf(metric, 'value'),
      ]),
    ),
  }));
  return {
    name: textOf(spec['model']),
    mainScorer: mainOf(stated),
    statedMean: (_section, scorer) => meanOf(stated, scorer),
    // A log without an end belongs to a task that did not get there.
    status: status === 'success' ? 'completed' : status === 'error' ? 'failed' : 'cancelled',
    startedAt: timeOf(stats['started_at']) ?? timeOf(spec['created']),
    finishedAt: timeOf(stats['completed_at']),
    error: status === 'error' ? (textOf(memberOf(header['error'], 'message')) ?? 'The task failed.') : null,
    config: filled({
      ...pick(spec, 'model', 'task', 'task_version', 'task_args', 'solver', 'tags'),
      tool_version: memberOf(spec['packages'], 'inspect_ai'),
      generate_config: filled(membersOf(spec['model_generate_config'])),
      limit: memberOf(spec['config'], 'limit'),
      epochs: numberOf(memberOf(spec['config'], 'epochs')),
      aggregated: scores.length === 0 ? null : scores,
    }),
  };
}

const nameOf = (score: JsonValue): string | null => {
  const name = textOf(memberOf(score, 'name'));
  return name === null ? null : scorerName(name);
};

const mainOf = (scores: readonly JsonValue[]): string | null =>
  scores[0] === undefined ? null : nameOf(scores[0]);

/** The mean of a scorer, which the log has for each way to combine the epochs of a sample. */
function meanOf(scores: readonly JsonValue[], scorer: string): number | undefined {
  const ofScorer = scores.filter((score) => nameOf(score) === scorer);
  const byMean = ofScorer.find((score) => {
    const reducer = textOf(memberOf(score, 'reducer'));
    return reducer === null || reducer === 'mean';
  });
  const metrics = memberOf(byMean ?? ofScorer[0], 'metrics');
  const found = ['accuracy', 'mean'].map((name) => memberOf(metrics, name)).find(isJsonObject);
  return found === undefined ? undefined : (numberOf(found['value']) ?? Number.NaN);
}

function timeOf(value: JsonValue | undefined): string | null {
  const text = textOf(value);
  if (text === null || !/^\d{4}-\d\d-\d\d/.test(text)) return null;
  return isoTime(new Date(text));
}

const MAX_HEADER_LENGTH = 1024 * 1024;
/** Members of a header that say something of a run; `eval` comes first. */
const OF_HEADER: ReadonlySet<string> = new Set(['version', 'status', 'eval', 'results', 'stats', 'error']);
const OF_EVAL: ReadonlySet<string> = new Set([
  ...['task', 'task_version', 'task_args', 'model', 'created', 'packages', 'solver', 'tags', 'config'],
  ...['model_generate_config', 'dataset'],
]);

class HeaderReader {
  readonly header: JsonObject = {};
  readonly order: Map<string, number> = new Map();
  readonly #budget: ValueBudget;
  readonly #ids: ReadonlySet<string>;

  constructor(limits: PackageLimits, ids: ReadonlySet<string> = new Set()) {
    this.#budget = new ValueBudget(limits, MAX_HEADER_LENGTH);
    this.#ids = ids;
  }

  async read(json: JsonStream, key: string): Promise<void> {
    if (!OF_HEADER.has(key)) return;
    if (key !== 'eval' || (await json.peek()) !== 'object') {
      setMember(this.header, key, await this.#budget.next(json));
      return;
    }
    const spec: JsonObject = {};
    for await (const name of json.members()) {
      if (!OF_EVAL.has(name)) continue;
      if (name === 'dataset') await this.#readDataset(json);
      else setMember(spec, name, await this.#budget.next(json));
    }
    setMember(this.header, key, spec);
  }

  /** A dataset may have any number of ids: only ids of the archive are kept. */
  async #readDataset(json: JsonStream): Promise<void> {
    if ((await json.peek()) !== 'object') return;
    for await (const name of json.members()) {
      if (name !== 'sample_ids' || this.#ids.size === 0 || (await json.peek()) !== 'array') continue;
      for await (const index of json.items()) {
        // Once all are found, further ones are passed over.
        if (this.order.size === this.#ids.size) continue;
        const { text } = await json.text(MAX_ID_VALUES);
        const id = text.startsWith('"') ? String(JSON.parse(text)) : text;
        if (this.#ids.has(id) && !this.order.has(id)) this.order.set(id, index);
      }
    }
  }
}

const MAX_ID_VALUES = 16;
