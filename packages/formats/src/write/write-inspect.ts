import { canonicalJson, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import type { ExportResult } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { itemImages, itemMessages, OWN_ITEM } from '../messages.ts';
import { filled, isFilled, memberOf, membersOf, numberOf, textOf } from '../read-json.ts';
import { passedBy } from '../scores.ts';
import { KeyNumbers } from '../stage/key-numbers.ts';
import {
  inspectChoices,
  mainScorerOf,
  modelOf,
  namedScores,
  plainText,
  tokensOf,
  withImages,
} from './item-texts.ts';
import {
  itemLines,
  type SourceItem,
  samplesOf,
  type ToolSource,
  type WriteContext,
  type WrittenFile,
} from './tool-source.ts';

export function inspectSamples(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  const ids = new SampleIds();
  return itemLines(source, context, (item, place) => toSample(item, ids.next(item.item), place));
}

const IN_SUMMARY = ['id', 'epoch', 'input', 'target', 'metadata', 'scores'];

export async function* inspectLog(source: ToolSource, context: WriteContext): AsyncGenerator<WrittenFile> {
  const head = { version: 2, eval: evalOf(source), plan: {} };
  yield { name: '_journal/start.json', text: [canonicalJson(head)] };
  const metrics = new Metrics();
  for await (const sample of evalSamples(source, context, metrics)) {
    yield {
      name: `samples/${String(sample['id'])}_epoch_${String(sample['epoch'])}.json`,
      text: [sampleText(sample)],
    };
  }
  async function* summaries(): AsyncGenerator<string> {
    let start = '[';
    for await (const sample of evalSamples(source, context, new Metrics())) {
      const shown = Object.fromEntries(IN_SUMMARY.map((name) => [name, sample[name] ?? null]));
      const error = sample['error'] ?? null;
      const message = error === null ? {} : { error: memberOf(error, 'message') };
      yield `${start}${sampleText({ ...shown, completed: true, ...message })}`;
      start = ',';
    }
    yield start === '[' ? '[]' : ']';
  }
  yield { name: 'summaries.json', text: summaries() };
  yield { name: 'header.json', text: [canonicalJson({ ...head, ...endOf(source, metrics) })] };
}

/** The JSON of a sample, whose scores keep their order: the first is the main one for the tool. */
function sampleText({ scores = null, ...sample }: JsonObject): string {
  const ordered = Object.entries(membersOf(scores)).map(
    ([name, score]) => `${JSON.stringify(name)}:${canonicalJson(score)}`,
  );
  return `{"scores":{${ordered.join(',')}},${canonicalJson(sample).slice(1)}`;
}

export async function* inspectDocument(source: ToolSource, context: WriteContext): AsyncGenerator<string> {
  const metrics = new Metrics();
  const { status } = endOf(source, metrics);
  yield `{"version":2,"status":${JSON.stringify(status)},"eval":${canonicalJson(evalOf(source))},"plan":{},"samples":[`;
  let start = '';
  for await (const sample of evalSamples(source, context, metrics)) {
    yield `${start}${sampleText(sample)}`;
    start = ',';
  }
  const { status: _, ...end } = endOf(source, metrics);
  yield `],${canonicalJson(end).slice(1)}`;
}

function toSample({ item, itemHash }: SourceItem, id: JsonValue, place: Place): JsonObject {
  const images = itemImages(item, place);
  if (item['checker'] !== undefined) place.lost('checkers');
  if (isFilled(item['criteria'])) place.lost('criteria');
  const said = itemMessages(item).map(({ role = 'user', content = '' }): JsonObject => ({ role, content }));
  const messages = withImages(said, images, (image) => ({ type: 'image', image, detail: 'auto' }));
  const { role = null, content = null } = messages[0] ?? {};
  const isPlain = messages.length === 1 && role === 'user' && typeof content === 'string';
  const { choices, letters } = inspectChoices(item);
  const known = letters.filter((letter) => letter !== null);
  if (choices.length > 0) place.lost('answers that are none of the choices', letters.length - known.length);
  const ofChoices = Array.isArray(item['answer']) ? known : (known[0] ?? '');
  return {
    ...(id === null ? {} : { id }),
    input: isPlain ? content : [...messages],
    ...(choices.length === 0 ? { target: targetOf(item) } : { choices: [...choices], target: ofChoices }),
    metadata: { ...membersOf(item['meta']), item_hash: itemHash, [OWN_ITEM]: canonicalJson(item) },
  };
}

const targetOf = ({ answer = null }: JsonObject): JsonValue =>
  answer === null ? '' : Array.isArray(answer) ? answer.map(plainText) : plainText(answer);

async function* evalSamples(
  source: ToolSource,
  context: WriteContext,
  metrics: Metrics,
): AsyncGenerator<JsonObject> {
  const ids = new SampleIds();
  const model = modelOf(source.run);
  const main = mainScorerOf(source.run);
  for await (const sample of samplesOf(source)) {
    const id = ids.next(sample.item);
    if (sample.results.length === 0) continue;
    const place = context.lost.at({ file: sample.section });
    const base = toSample(sample, id, place);
    for (const result of sample.results) {
      const scores = namedScores(result, main);
      metrics.add(result, scores);
      const unsaid = scores.filter(([, { score = null, passed = null }]) => passed !== passedBy(score));
      place.lost('verdicts', unsaid.length);
      yield { ...base, ...resultOf(result, scores, model) };
    }
  }
}

function resultOf(result: ExportResult, scores: ReturnType<typeof namedScores>, model: string): JsonObject {
  const { repetition = 1, output = null, error = null, latency_ms: latency = null, usage = null } = result;
  const text = output === null ? null : plainText(output);
  const seconds = numberOf(latency);
  const reasoning = textOf(result.reasoning ?? null);
  const content =
    reasoning === null
      ? (text ?? '')
      : [
          { type: 'reasoning', reasoning },
          { type: 'text', text: text ?? '' },
        ];
  const message = { role: 'assistant', content, source: 'generate' };
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
      usage: tokensOf(usage),
      time: seconds === null ? null : seconds / 1000,
    }),
    scores: scoresOf(scores),
    ...(isFilled(usage) ? { model_usage: { [model]: tokensOf(usage) } } : {}),
    ...(result.status === 'failed' ? { error: failure } : {}),
  };
}

function scoresOf(scores: ReturnType<typeof namedScores>): JsonObject {
  const found: JsonObject = {};
  for (const [name, { score = null, explanation = null }] of scores) {
    setMember(found, name, filled({ value: score, explanation }));
  }
  return found;
}

function evalOf(source: ToolSource): JsonObject {
  const { name, versionHash, itemCount, run } = source;
  const id = run?.id ?? '';
  return {
    ...{ eval_id: id, run_id: id, task_id: id, task: name, task_version: 0 },
    created: run?.startedAt ?? EPOCH,
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
    results: {
      total_samples: itemCount,
      completed_samples: metrics.samples,
      scores: metrics.list(mainScorerOf(run)),
    },
    stats: { started_at: startedAt ?? '', completed_at: finishedAt ?? '', model_usage: {} },
    ...(status === 'failed'
      ? { error: { message: error ?? 'failed', traceback: '', traceback_ansi: '' } }
      : {}),
  };
}

class Metrics {
  readonly #sums = new Map<string, { sum: number; count: number }>();
  samples = 0;

  add(result: ExportResult, scores: ReturnType<typeof namedScores>): void {
    if (result.status !== 'failed') this.samples += 1;
    for (const [name, { score = null }] of scores) {
      const found = this.#sums.get(name) ?? { sum: 0, count: 0 };
      found.sum += numberOf(score) ?? 0;
      found.count += 1;
      this.#sums.set(name, found);
    }
  }

  /** @param main the name of the main scorer, which comes first */
  list(main: string | null): JsonObject[] {
    const isMain = ([name]: readonly [string, unknown]): number => (name === main ? 0 : 1);
    const ordered = [...this.#sums].sort((one, other) => isMain(one) - isMain(other));
    return ordered.map(([name, { sum, count }]) => ({
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
    // An id with a suffix may be the id of another item, too.
    do unique = `${unique}-${this.#count}`;
    while (!this.#keys.numberOf(unique).isNew);
    return unique;
  }
}
