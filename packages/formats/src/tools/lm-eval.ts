import type { SourceLocation } from '@svc/jsonl-v23';
import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import { datasetName } from '../base-name.ts';
import type { LostCounter } from '../lost.ts';
import { promptInputs } from '../messages.ts';
import { OWN_ITEM, ownItem } from '../own-item.ts';
import {
  elementsOf,
  filled,
  invalidLine,
  isFilled,
  isoTime,
  memberOf,
  membersOf,
  numberOf,
  parsePythonJson,
  readLines,
  textOf,
  wholeText,
} from '../read-json.ts';
import { ScoreList } from '../scores.ts';
import type { ReadContext, ToolContent, ToolFile, ToolResult, ToolRun, ToolSample } from '../tool.ts';

/** Members of a sample that are not metrics, for logs that do not list their metrics. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['doc_id', 'doc', 'target', 'arguments', 'resps', 'filtered_resps', 'filter', 'metrics'],
  ...['doc_hash', 'prompt_hash', 'target_hash', 'schema'],
]);

/** Bytes of `results_<time>.json`, which has no samples. */
const MAX_RESULTS_BYTES = 64 * 1024 * 1024;

const SAMPLES_FILE = /^samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl$/;

/** Whether a line is a sample that lm-evaluation-harness logged. */
export const isLmEvalLine = (line: JsonObject): boolean =>
  ['doc_id', 'doc', 'arguments', 'resps', 'filtered_resps'].every((name) => Object.hasOwn(line, name));

/** Logged samples of lm-evaluation-harness, one file for each task, with the results of the same run. */
export function readLmEval(files: readonly ToolFile[], context: ReadContext): ToolContent {
  const tasks = files.filter(({ name }) => !/\.json$/i.test(name));
  const results = files.filter((file) => !tasks.includes(file));
  const [second] = results.slice(1);
  if (second !== undefined || tasks.length === 0) {
    const message =
      'Files of lm-evaluation-harness must be samples_<task>_<time>.jsonl, and at most one results_<time>.json.';
    throw new PackageError('package_unsupported', message, { entry: (second ?? results[0])?.name ?? '' });
  }
  const names = tasks.map(taskOf);
  return { name: datasetName(names.join(', ')), samples: samples(tasks, results[0] ?? null, context) };
}

function taskOf({ name }: ToolFile): string {
  return datasetName(SAMPLES_FILE.exec(name)?.[1] ?? name.replace(/\.jsonl$/i, ''));
}

async function* samples(
  tasks: readonly ToolFile[],
  results: ToolFile | null,
  context: ReadContext,
): AsyncGenerator<ToolSample, ToolRun> {
  const { limits, lost, signal } = context;
  const summary = results === null ? {} : await readResults(results, context);
  for (const [source, file] of tasks.entries()) {
    const section = taskOf(file);
    for await (const { value, location } of readLines(file, limits, signal)) {
      if (!isLmEvalLine(value))
        throw invalidLine('The line must be a logged sample of lm-evaluation-harness', location);
      const docId = getMember(value, 'doc_id') ?? null;
      const requests = requestsOf(value);
      const doc = getMember(value, 'doc') ?? null;
      const own = ownItem(doc, lost, location);
      const item = own ?? toItem(value, doc, requests, lost, location);
      const { filter, ...found } = toResult(value, requests, lost, location);
      const result = { ...found, part: { source, name: filter } };
      const key = canonicalJson(docId);
      yield { section, key, item, isOwn: own !== null, sourceRow: doc, result, location };
    }
  }
  return toRun(summary);
}

/** The arguments of each request: an object `{gen_args_0: {arg_0, arg_1}}`, or lists in older logs. */
function requestsOf(sample: JsonObject): readonly (readonly JsonValue[])[] {
  const stated = getMember(sample, 'arguments') ?? null;
  const listOf = (value: JsonValue): readonly JsonValue[] =>
    Array.isArray(value) ? value : Object.values(membersOf(value));
  return listOf(stated).map(listOf);
}

function toItem(
  sample: JsonObject,
  doc: JsonValue,
  requests: readonly (readonly JsonValue[])[],
  lost: LostCounter,
  location: SourceLocation,
): JsonObject {
  const context = requests[0]?.[0] ?? null;
  const id = memberOf(doc, 'id') ?? getMember(sample, 'doc_id') ?? null;
  const target = getMember(sample, 'target') ?? null;
  const { id: _, [OWN_ITEM]: __, ...meta } = membersOf(doc);
  const inputs = promptOf(context, lost, location);
  const choices = choicesOf(requests);
  const index = typeof target === 'string' && /^\d{1,4}$/.test(target) ? Number(target) : target;
  const answer = choices !== null && typeof index === 'number' ? (choices[index] ?? target) : target;
  const others = elementsOf(getMember(sample, 'arguments') ?? null).length;
  if (choices === null && Math.max(requests.length, others) > 1)
    lost.add('further requests of a sample', location);
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    ...(choices === null ? {} : { type: 'multiple_choice' }),
    inputs: { ...inputs, ...(choices === null ? {} : { choices: [...choices] }) },
    ...(answer === null ? {} : { answer }),
    ...(isFilled(meta) ? { meta } : {}),
  };
}

function promptOf(context: JsonValue, lost: LostCounter, location: SourceLocation): JsonObject {
  const text = Array.isArray(context) && context.length === 1 ? (context[0] ?? null) : context;
  if (typeof text === 'string') return promptInputs(text, lost, location);
  lost.add('arguments that are not text', location);
  return {};
}

/** The continuations whose log-likelihoods were asked for after one context; null for any other request. */
function choicesOf(requests: readonly (readonly JsonValue[])[]): readonly string[] | null {
  if (requests.length < 2) return null;
  const context = requests[0]?.[0];
  const isChoice = requests.every(([prompt, text]) => typeof text === 'string' && prompt === context);
  return isChoice ? requests.map(([, text]) => String(text).trim()) : null;
}

function toResult(
  sample: JsonObject,
  requests: readonly (readonly JsonValue[])[],
  lost: LostCounter,
  location: SourceLocation,
): ToolResult & { readonly filter: string } {
  const filter = textOf(getMember(sample, 'filter')) ?? 'none';
  const filtered = elementsOf(getMember(sample, 'filtered_resps'));
  const explanation = filter === 'none' ? null : textOf(filtered[0]);
  const list = new ScoreList(lost, location);
  const names = elementsOf(getMember(sample, 'metrics')).filter((name) => typeof name === 'string');
  const metrics = names.length > 0 ? names : Object.keys(sample).filter((name) => !KNOWN.has(name));
  for (const name of metrics) {
    list.add(filter === 'none' ? name : `${name},${filter}`, getMember(sample, name), explanation);
  }
  const output = outputOf(elementsOf(getMember(sample, 'resps')), requests, lost, location);
  return { repetition: null, output, error: null, scores: list.scores, filter };
}

/** The text that was generated; of log-likelihoods, the continuation with the highest. */
function outputOf(
  responses: readonly JsonValue[],
  requests: readonly (readonly JsonValue[])[],
  lost: LostCounter,
  location: SourceLocation,
): JsonValue {
  const first = elementsOf(responses[0]);
  if (typeof first[0] === 'string') {
    lost.add('further responses of a sample', location, first.length - 1 + (responses.length - 1));
    return first[0];
  }
  const likelihoods = responses.map((response) => {
    const [one = null] = elementsOf(response);
    const number = Number(textOf(elementsOf(one)[0]) ?? numberOf(elementsOf(one)[0]) ?? Number.NaN);
    return Number.isNaN(number) ? Number.NEGATIVE_INFINITY : number;
  });
  lost.add('log-likelihoods', location, likelihoods.length);
  const choices = choicesOf(requests);
  const best = likelihoods.reduce((at, value, index) => (value > (likelihoods[at] ?? 0) ? index : at), 0);
  return choices?.[best] ?? null;
}

async function readResults(file: ToolFile, { limits, signal }: ReadContext): Promise<JsonObject> {
  const maxBytes = Math.min(MAX_RESULTS_BYTES, limits.maxLineBytes);
  const text = await wholeText(file, maxBytes, `The results must have at most ${maxBytes} bytes.`, signal);
  const value = parsePythonJson(text, { file: file.name }, limits.maxDepth);
  if (isJsonObject(value) && isJsonObject(getMember(value, 'results'))) return value;
  throw new PackageError('package_invalid_json', 'The results must be an object with results.', {
    entry: file.name,
  });
}

/** The run, from `results_<time>.json`. */
function toRun(results: JsonObject): ToolRun {
  const config = membersOf(results['config']);
  const model = textOf(results['model_name']) ?? textOf(config['model']);
  const started = numberOf(results['date']);
  const seconds = Number(textOf(results['total_evaluation_time_seconds']) ?? Number.NaN);
  const at = (time: number | null): string | null => (time === null ? null : isoTime(new Date(time * 1000)));
  return {
    name: model,
    status: 'completed',
    startedAt: at(started),
    finishedAt: at(started !== null && Number.isFinite(seconds) ? started + seconds : null),
    error: null,
    config: filled({
      model,
      tool_version: textOf(results['lm_eval_version']),
      model_args: config['model_args'] ?? null,
      gen_kwargs: config['gen_kwargs'] ?? null,
      num_fewshot: results['n-shot'] ?? null,
      limit: config['limit'] ?? null,
      seed: config['random_seed'] ?? null,
      versions: results['versions'] ?? null,
      aggregated: isFilled(results['results']) ? (results['results'] ?? null) : null,
    }),
  };
}
