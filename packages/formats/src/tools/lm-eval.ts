import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  JsonStream,
  type JsonValue,
  setMember,
} from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { OWN_ITEM, ownItem, promptInputs } from '../messages.ts';
import {
  bytesOf,
  datasetName,
  elementsOf,
  filled,
  invalidLine,
  isFilled,
  isoTime,
  memberOf,
  membersOf,
  numberOf,
  readLines,
  textOf,
  ValueBudget,
} from '../read-json.ts';
import { ScoreList, scorerName } from '../scores.ts';
import { Occurrences } from '../stage/key-numbers.ts';
import type { ReadContext, ToolContent, ToolFile, ToolResult, ToolRun, ToolSample } from '../tool.ts';

/** Members of a sample that are not metrics, for logs that do not list their metrics. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['doc_id', 'doc', 'target', 'arguments', 'resps', 'filtered_resps', 'filter', 'metrics'],
  ...['doc_hash', 'prompt_hash', 'target_hash', 'schema'],
]);

const MAX_RESULTS_LENGTH = 1024 * 1024;
const OF_RESULTS: ReadonlySet<string> = new Set([
  ...['results', 'config', 'model_name', 'date', 'total_evaluation_time_seconds', 'lm_eval_version'],
  ...['n-shot', 'versions'],
]);

const SAMPLES_FILE = /^samples_(.+?)(?:_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl$/;

export const isLmEvalLine = (line: JsonObject): boolean =>
  ['doc_id', 'doc', 'arguments', 'resps', 'filtered_resps'].every((name) => Object.hasOwn(line, name));

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
    const unnamed = new Occurrences();
    for await (const { value, location } of readLines(file, limits, signal)) {
      if (!isLmEvalLine(value))
        throw invalidLine('The line must be a logged sample of lm-evaluation-harness', location);
      const place = lost.at(location);
      const docId = getMember(value, 'doc_id') ?? null;
      const requests = requestsOf(value);
      const doc = getMember(value, 'doc') ?? null;
      const own = ownItem(doc, place);
      const item = own ?? toItem(value, doc, requests, place);
      const filter = filterOf(value, unnamed);
      const found = toResult(value, filter, requests, place);
      const result = { ...found, part: { source, name: filter } };
      const key = canonicalJson(docId);
      yield { section, key, item, isOwn: own !== null, sourceRow: doc, result, location };
    }
  }
  const sections = tasks.map(taskOf);
  const isOnly = (section: string): boolean => sections.filter((one) => one === section).length === 1;
  return {
    ...toRun(summary),
    statedMean: (section, scorer) => (isOnly(section) ? meanOf(summary, section, scorer) : undefined),
  };
}

/** The filter of a sample. Older logs do not name it: equal responses to equal requests then belong to another filter. */
function filterOf(sample: JsonObject, unnamed: Occurrences): string {
  const stated = textOf(getMember(sample, 'filter'));
  if (stated !== null) return stated;
  const members = ['doc_id', 'arguments', 'resps'].map((name) => getMember(sample, name) ?? null);
  const count = unnamed.next(canonicalJson(members));
  return count === 1 ? NO_FILTER : `filter-${count}`;
}

const NO_FILTER = 'none';

function meanOf(summary: JsonObject, section: string, scorer: string): number | undefined {
  for (const [task, metrics] of Object.entries(membersOf(summary['results']))) {
    if (datasetName(task) !== section) continue;
    for (const [name, value] of Object.entries(membersOf(metrics))) {
      if (scorerName(name.replace(/,none$/, '')) === scorer) return numberOf(value) ?? Number.NaN;
    }
  }
  return undefined;
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
  place: Place,
): JsonObject {
  const context = requests[0]?.[0] ?? null;
  const id = memberOf(doc, 'id') ?? getMember(sample, 'doc_id') ?? null;
  const target = getMember(sample, 'target') ?? null;
  const { id: _, [OWN_ITEM]: __, ...meta } = membersOf(doc);
  const { context: shared = context, choices } = choicesOf(requests) ?? { choices: null };
  const inputs = promptOf(shared, place);
  const index = typeof target === 'string' && /^\d{1,4}$/.test(target) ? Number(target) : target;
  const chosen = choices !== null && typeof index === 'number' ? choices[index] : undefined;
  // An ending that all choices share names none of them.
  const isNamed = typeof target === 'string' && choices?.includes(target.trim()) === true;
  const isShared = shared !== context && chosen === undefined && !isNamed;
  if (isShared) place.lost('targets that name no choice');
  const answer = chosen ?? (isShared ? null : target);
  const others = elementsOf(getMember(sample, 'arguments') ?? null).length;
  if (choices === null && Math.max(requests.length, others) > 1) place.lost('further requests of a sample');
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    ...(choices === null ? {} : { type: 'multiple_choice' }),
    inputs: { ...inputs, ...(choices === null ? {} : { choices: [...choices] }) },
    ...(answer === null ? {} : { answer }),
    ...(isFilled(meta) ? { meta } : {}),
  };
}

function promptOf(context: JsonValue, place: Place): JsonObject {
  const text = Array.isArray(context) && context.length === 1 ? (context[0] ?? null) : context;
  if (typeof text === 'string') return promptInputs(text, place);
  place.lost('arguments that are not text');
  return {};
}

/**
 * The choices whose log-likelihoods were asked for, and the context that they share: continuations after one context, or
 * what differs between texts. Null for any other request.
 */
function choicesOf(
  requests: readonly (readonly JsonValue[])[],
): { readonly context?: string; readonly choices: readonly string[] } | null {
  if (requests.length < 2) return null;
  const asked = requests.map(([context, text]) =>
    typeof context === 'string' && typeof text === 'string' ? { context, text } : null,
  );
  const known = asked.filter((one) => one !== null);
  const [first] = known;
  if (first === undefined || known.length < asked.length) return null;
  if (known.every(({ context }) => context === first.context)) {
    return { choices: known.map(({ text }) => text.trim()) };
  }
  const shared = known.every(({ text }) => text === first.text) ? first.text : '';
  const texts = known.map(({ context, text }) => (shared === '' ? context + text : context));
  const start = commonStart(texts);
  const choices = texts.map((text) => text.slice(start).trim());
  if (choices.includes('')) return { context: shared, choices: texts.map((text) => text.trim()) };
  return { context: `${first.context.slice(0, start)}_${shared}`, choices };
}

function commonStart(texts: readonly string[]): number {
  const [first = ''] = texts;
  let length = first.length;
  for (const text of texts) {
    let same = 0;
    while (same < length && text[same] === first[same]) same += 1;
    length = same;
  }
  while (length > 0 && !/\s/.test(first[length - 1] ?? '')) length -= 1;
  return length;
}

function toResult(
  sample: JsonObject,
  filter: string,
  requests: readonly (readonly JsonValue[])[],
  place: Place,
): ToolResult {
  const filtered = elementsOf(getMember(sample, 'filtered_resps'));
  const explanation = filter === NO_FILTER ? null : textOf(filtered[0]);
  const list = new ScoreList(place);
  const names = elementsOf(getMember(sample, 'metrics')).filter((name) => typeof name === 'string');
  const metrics = names.length > 0 ? names : Object.keys(sample).filter((name) => !KNOWN.has(name));
  for (const name of metrics) {
    list.add(filter === NO_FILTER ? name : `${name},${filter}`, getMember(sample, name), explanation);
  }
  const output = outputOf(elementsOf(getMember(sample, 'resps')), requests, place);
  return { repetition: null, output, error: null, scores: list.scores };
}

/** The text that was generated; of log-likelihoods, the continuation with the highest. */
function outputOf(
  responses: readonly JsonValue[],
  requests: readonly (readonly JsonValue[])[],
  place: Place,
): JsonValue {
  const first = elementsOf(responses[0]);
  // A text alone, without what generates from it, is asked for its own log-likelihood.
  const isRolling = requests.length > 0 && requests.every((request) => request.length === 1);
  if (isRolling) {
    place.lost('log-likelihoods', responses.length);
    return null;
  }
  if (typeof responses[0] === 'string') {
    place.lost('further responses of a sample', responses.length - 1);
    return responses[0];
  }
  if (typeof first[0] === 'string') {
    place.lost('further responses of a sample', first.length - 1 + (responses.length - 1));
    return first[0];
  }
  const likelihoods = responses.map((response) => {
    const [one = null] = elementsOf(response);
    const number = Number(textOf(elementsOf(one)[0]) ?? numberOf(elementsOf(one)[0]) ?? Number.NaN);
    return Number.isNaN(number) ? Number.NEGATIVE_INFINITY : number;
  });
  place.lost('log-likelihoods', likelihoods.length);
  const choices = choicesOf(requests)?.choices;
  const best = likelihoods.reduce((at, value, index) => (value > (likelihoods[at] ?? 0) ? index : at), 0);
  return choices?.[best] ?? null;
}

async function readResults(file: ToolFile, { limits, signal }: ReadContext): Promise<JsonObject> {
  const results: JsonObject = {};
  const budget = new ValueBudget(limits, MAX_RESULTS_LENGTH);
  await using json = new JsonStream(bytesOf(file, signal), { file: file.name, maxDepth: limits.maxDepth });
  for await (const key of json.members()) {
    if (OF_RESULTS.has(key)) setMember(results, key, await budget.next(json));
  }
  await json.end();
  if (isJsonObject(getMember(results, 'results'))) return results;
  throw new PackageError('package_invalid_json', 'The results must be an object with results.', {
    entry: file.name,
  });
}

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
