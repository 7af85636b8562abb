import { canonicalJson, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import type { ExportResult } from '@svc/pkg-format';
import { KeyNumbers } from '../key-numbers.ts';
import { itemImages, itemMessages } from '../messages.ts';
import { OWN_ITEM } from '../own-item.ts';
import { elementsOf, filled, isFilled, memberOf, membersOf, numberOf, textOf } from '../read-json.ts';
import { modelOf, plainText, tokensOf, withImages } from './item-texts.ts';
import {
  itemLines,
  type SourceItem,
  samplesOf,
  type ToolSource,
  type WriteContext,
  type WrittenFile,
} from './tool-source.ts';

/** A dataset as JSON Lines of Inspect's samples. */
export function inspectSamples(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  const ids = new SampleIds();
  return itemLines(source, (item) => toSample(item, ids.next(item.item), context));
}

/** The files of a log, `.eval`, of a run. */
export async function* inspectLog(source: ToolSource, context: WriteContext): AsyncGenerator<WrittenFile> {
  const head = { version: 2, eval: evalOf(source), plan: {} };
  yield { name: '_journal/start.json', text: [canonicalJson(head)] };
  const metrics = new Metrics();
  for await (const sample of evalSamples(source, context, metrics)) {
    yield {
      name: `samples/${String(sample['id'])}_epoch_${String(sample['epoch'])}.json`,
      text: [canonicalJson(sample)],
    };
  }
  async function* summaries(): AsyncGenerator<string> {
    let start = '[';
    for await (const sample of evalSamples(source, context, new Metrics())) {
      const {
        id = null,
        epoch = null,
        input = null,
        target = null,
        metadata = null,
        scores = null,
        error = null,
      } = sample;
      const message = error === null ? {} : { error: memberOf(error, 'message') };
      yield `${start}${canonicalJson({ id, epoch, input, target, metadata, scores, completed: true, ...message })}`;
      start = ',';
    }
    yield start === '[' ? '[]' : ']';
  }
  yield { name: 'summaries.json', text: summaries() };
  yield { name: 'header.json', text: [canonicalJson({ ...head, ...endOf(source, metrics) })] };
}

/** The same log as one JSON document. */
export async function* inspectDocument(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  const metrics = new Metrics();
  const { status } = endOf(source, metrics);
  yield `{"version":2,"status":${JSON.stringify(status)},"eval":${canonicalJson(evalOf(source))},"plan":{},"samples":[`;
  let start = '';
  for await (const sample of evalSamples(source, context, metrics)) {
    yield `${start}${canonicalJson(sample)}`;
    start = ',';
  }
  const { status: _, ...end } = endOf(source, metrics);
  yield `],${canonicalJson(end).slice(1)}`;
}

function toSample(
  { item, itemHash, section }: SourceItem,
  id: JsonValue,
  { lost }: WriteContext,
): JsonObject {
  const { images, others } = itemImages(item);
  const location = { file: section };
  lost.add('files that are not images', location, others);
  if (item['checker'] !== undefined) lost.add('checkers', location);
  if (isFilled(item['criteria'])) lost.add('criteria', location);
  const said = itemMessages(item).map(({ role = 'user', content = '' }): JsonObject => ({ role, content }));
  const messages = withImages(said, images, (image) => ({ type: 'image', image, detail: 'auto' }));
  const { role = null, content = null } = messages[0] ?? {};
  const isPlain = messages.length === 1 && role === 'user' && typeof content === 'string';
  const { answer = null } = item;
  const choices = elementsOf(memberOf(item['inputs'] ?? null, 'choices'));
  return {
    ...(id === null ? {} : { id }),
    input: isPlain ? content : [...messages],
    ...(choices.length === 0 ? {} : { choices: choices.map(plainText) }),
    target: answer === null ? '' : Array.isArray(answer) ? answer.map(plainText) : plainText(answer),
    metadata: { ...membersOf(item['meta']), item_hash: itemHash, [OWN_ITEM]: canonicalJson(item) },
  };
}

async function* evalSamples(
  source: ToolSource,
  context: WriteContext,
  metrics: Metrics,
): AsyncGenerator<JsonObject> {
  const ids = new SampleIds();
  const model = modelOf(source.run);
  for await (const sample of samplesOf(source)) {
    const id = ids.next(sample.item);
    if (sample.results.length === 0) continue;
    const base = toSample(sample, id, context);
    for (const result of sample.results) {
      metrics.add(result);
      yield { ...base, ...resultOf(result, model) };
    }
  }
}

function resultOf(result: ExportResult, model: string): JsonObject {
  const { repetition = 1, output = null, error = null, latency_ms: latency = null, usage = null } = result;
  const text = output === null ? null : plainText(output);
  const seconds = numberOf(latency);
  const message = { role: 'assistant', content: text ?? '', source: 'generate' };
  const reason = textOf(result.finish_reason);
  const failure = {
    message: textOf(memberOf(error, 'message')) ?? 'failed',
    traceback: '',
    traceback_ansi: '',
  };
  return {
    epoch: repetition,
    messages: text === null ? [] : [message],
    output: filled({
      model,
      choices:
        text === null
          ? []
          : [{ message, stop_reason: reason === 'length' ? 'max_tokens' : (reason ?? 'stop') }],
      completion: text ?? '',
      usage: usageOf(usage),
      time: seconds === null ? null : seconds / 1000,
    }),
    scores: scoresOf(result),
    ...(isFilled(usage) ? { model_usage: { [model]: usageOf(usage) } } : {}),
    ...(result.status === 'failed' ? { error: failure } : {}),
  };
}

/** What each scorer says; `score` is the name of one without a name. */
function scoresOf({ scores = null, score = null, explanation = null }: ExportResult): JsonObject {
  const named = isFilled(scores)
    ? membersOf(scores)
    : score === null
      ? {}
      : { score: { score, explanation } };
  const found: JsonObject = {};
  for (const [name, one] of Object.entries(named)) {
    const value = memberOf(one, 'score');
    if (value === null) continue;
    setMember(found, name, filled({ value, explanation: memberOf(one, 'explanation') }));
  }
  return found;
}

function usageOf(usage: JsonValue): JsonObject {
  const { input, output, total } = tokensOf(usage);
  return { input_tokens: input, output_tokens: output, total_tokens: total };
}

function evalOf(source: ToolSource): JsonObject {
  const { name, versionHash, itemCount, run } = source;
  const id = run?.id ?? '';
  return {
    ...{
      eval_id: id,
      run_id: id,
      task_id: id,
      task: name,
      task_version: 0,
      created: run?.startedAt ?? EPOCH,
    },
    ...{ task_attribs: {}, task_args: {}, model: modelOf(run), model_args: {}, config: {}, packages: {} },
    dataset: { name, samples: itemCount, shuffled: false },
    metadata: { dataset_version_hash: versionHash },
  };
}

const EPOCH = '1970-01-01T00:00:00Z';

function endOf({ itemCount, run }: ToolSource, metrics: Metrics): JsonObject & { readonly status: string } {
  const { status = 'completed', startedAt = null, finishedAt = null, error = null } = run ?? {};
  return {
    status: status === 'completed' ? 'success' : status === 'failed' ? 'error' : 'cancelled',
    results: { total_samples: itemCount, completed_samples: metrics.samples, scores: metrics.list() },
    stats: { started_at: startedAt ?? '', completed_at: finishedAt ?? '', model_usage: {} },
    ...(status === 'failed'
      ? { error: { message: error ?? 'failed', traceback: '', traceback_ansi: '' } }
      : {}),
  };
}

/** Means of scores, as the log begins with them. */
class Metrics {
  readonly #sums = new Map<string, { sum: number; count: number }>();
  samples = 0;

  add(result: ExportResult): void {
    if (result.status !== 'failed') this.samples += 1;
    for (const [name, score] of Object.entries(scoresOf(result))) {
      const found = this.#sums.get(name) ?? { sum: 0, count: 0 };
      found.sum += numberOf(memberOf(score, 'value')) ?? 0;
      found.count += 1;
      this.#sums.set(name, found);
    }
  }

  list(): JsonObject[] {
    return Array.from(this.#sums, ([name, { sum, count }]) => ({
      ...{ name, scorer: name, params: {}, scored_samples: count },
      metrics: { mean: { name: 'mean', value: sum / count, params: {} } },
    }));
  }
}

const MAX_ID_LENGTH = 100;

/** Ids that differ, and may be used in the names of files. */
class SampleIds {
  readonly #keys = new KeyNumbers();
  #count = 0;

  next({ id = null }: JsonObject): JsonValue {
    this.#count += 1;
    const text = (typeof id === 'number' ? String(id) : (textOf(id) ?? ''))
      .slice(0, MAX_ID_LENGTH)
      .replaceAll(/[^\p{L}\p{N}_.+-]/gu, '_')
      .replaceAll('..', '_');
    let unique = text === '' ? String(this.#count) : text;
    if (this.#keys.numberOf(unique).isNew) return typeof id === 'number' ? id : unique;
    // What gets a suffix may be the id of another item, too.
    do unique = `${unique}-${this.#count}`;
    while (!this.#keys.numberOf(unique).isNew);
    return unique;
  }
}
