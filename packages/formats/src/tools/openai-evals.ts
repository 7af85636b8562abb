import type { SourceLocation } from '@svc/jsonl-v23';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  JsonStream,
  type JsonValue,
  setMember,
} from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { contentText, promptInputs, withMessages } from '../messages.ts';
import {
  baseName,
  bytesOf,
  datasetName,
  elementsOf,
  filled,
  invalidLine,
  isFilled,
  isoTime,
  type Line,
  memberOf,
  membersOf,
  numberOf,
  readLines,
  sectionName,
  textOf,
  ValueBudget,
} from '../read-json.ts';
import { passedBy, ScoreList } from '../scores.ts';
import { KeyNumbers } from '../stage/key-numbers.ts';
import type { ReadContext, ToolContent, ToolFile, ToolResult, ToolRun, ToolSample } from '../tool.ts';
import { promptOf } from './promptfoo.ts';

/** Characters of all evals and runs together, which are held while their output items are read. */
const MAX_FACTS_LENGTH = 16 * 1024 * 1024;
/** The scorer for the verdict on the whole output item. */
const STATUS = 'status';
const OUTPUT_ITEM = 'eval.run.output_item';
const UUID = /^-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

interface FoundRun {
  readonly number: number;
  readonly id: string;
  readonly evalId: string;
  readonly model: string | null;
  readonly first: SourceLocation;
  count: number;
}

/** Objects alone, in lists or in lines. Files are read twice, since graders may stand after what they graded. */
export async function readOpenAiEvalsApi(
  files: readonly ToolFile[],
  context: ReadContext,
): Promise<ToolContent> {
  const facts = await readFacts(files, context);
  const [first] = facts.evals.values();
  const name = textOf(first?.['name']);
  return {
    name: name === null || facts.evals.size > 1 ? baseName(files) : datasetName(name),
    samples: samples(files, facts, context),
  };
}

async function readFacts(files: readonly ToolFile[], context: ReadContext) {
  const [evals, runs] = [new Map<string, JsonObject>(), new Map<string, JsonObject>()];
  let length = 0;
  for (const file of files) {
    for await (const { value, location } of readObjects(file, context)) {
      const { object = null } = value;
      if (object === OUTPUT_ITEM) continue;
      const map = object === 'eval' ? evals : object === 'eval.run' ? runs : null;
      if (map === null) {
        context.lost.add(`object ${textOf(object) ?? 'without a name'}`, location);
        continue;
      }
      length += canonicalJson(value).length;
      if (length > MAX_FACTS_LENGTH) {
        const message = `Evals and runs must have at most ${MAX_FACTS_LENGTH} characters together.`;
        throw new PackageError('package_limit', message, { entry: file.name, location });
      }
      map.set(textOf(value['id']) ?? '', value);
    }
  }
  return { evals, runs };
}

async function* samples(
  files: readonly ToolFile[],
  { evals, runs }: Awaited<ReturnType<typeof readFacts>>,
  context: ReadContext,
): AsyncGenerator<ToolSample, ReadonlyMap<number, ToolRun>> {
  const found = new Map<string, FoundRun>();
  const ids = new KeyNumbers();
  const graders = new Map<string, readonly Grader[]>();
  for (const [id, { testing_criteria }] of evals) graders.set(id, elementsOf(testing_criteria).map(toGrader));
  for (const file of files) {
    for await (const { value, location } of readObjects(file, context)) {
      if (value['object'] !== OUTPUT_ITEM) continue;
      const { id = null, run_id: runId = null, datasource_item: row = null, sample = null } = value;
      if (!isJsonObject(row)) throw invalidLine('datasource_item must be an object', location);
      const run = found.get(String(runId)) ?? {
        ...{ number: found.size, id: String(runId), first: location, count: 0 },
        evalId: String(value['eval_id'] ?? runs.get(String(runId))?.['eval_id'] ?? ''),
        model: textOf(memberOf(sample, 'model')),
      };
      found.set(run.id, run);
      const place = context.lostOf(run.number).at(location);
      // Pages of a list that was read while it grew overlap.
      if (id !== null && !ids.numberOf(canonicalJson([runId, id])).isNew) {
        place.lost('repeated output items');
        continue;
      }
      run.count += 1;
      const ofEval = graders.get(run.evalId) ?? [];
      const itemId = value['datasource_item_id'] ?? null;
      const item = toItem(row, itemId, sample, ofEval, place);
      yield {
        ...{ section: 'default', key: canonicalJson([run.evalId, itemId ?? row]), item, sourceRow: row },
        ...{
          result: toResult(value, sample, ofEval, place),
          run: run.number,
          location,
        },
      };
    }
  }
  const evalIds = [...new Set(Array.from(found.values(), ({ evalId }) => evalId))];
  return new Map(
    Array.from(found.values(), (run) => {
      const stated = runs.get(run.id) ?? {};
      const total = numberOf(memberOf(stated['result_counts'], 'total')) ?? 0;
      const missing = Math.max(0, total - run.count);
      context.lostOf(run.number).add('output items that the files lack', run.first, missing);
      const ofEval = evals.get(run.evalId) ?? {};
      const part = evalIds.length === 1 ? null : (textOf(ofEval['name']) ?? run.evalId);
      return [run.number, toRun(run, stated, ofEval, part)] as const;
    }),
  );
}

async function* readObjects(file: ToolFile, context: ReadContext): AsyncGenerator<Line> {
  const { limits, signal } = context;
  const options = { file: file.name, maxDepth: limits.maxDepth, maxValueLength: limits.maxLineBytes };
  await using json = new JsonStream(bytesOf(file, signal), options);
  for (let kind = await json.peek(); kind !== 'end'; kind = await json.peek()) {
    if (kind === 'array') yield* objectsOf(json, context);
    else yield* readObject(json, context);
  }
}

async function* objectsOf(json: JsonStream, context: ReadContext): AsyncGenerator<Line> {
  for await (const _ of json.items()) yield* readObject(json, context);
}

/** An object, or the objects of a list of the API. Items that a run brought along are in its output items. */
async function* readObject(json: JsonStream, context: ReadContext): AsyncGenerator<Line> {
  const kind = await json.peek();
  const { location } = json;
  if (kind !== 'object') throw invalidLine('A dump of evals must hold objects', location);
  const value: JsonObject = {};
  const budget = new ValueBudget(context.limits, context.limits.maxLineBytes);
  let isList = false;
  for await (const key of json.members()) {
    const member = await json.peek();
    if (key === 'data' && member === 'array') {
      isList = true;
      yield* objectsOf(json, context);
    } else if (key === 'data_source' && member === 'object') {
      const source: JsonObject = {};
      for await (const name of json.members()) {
        if (name !== 'source') setMember(source, name, await budget.next(json));
      }
      value[key] = source;
    } else setMember(value, key, await budget.next(json));
  }
  if (!isList) yield { value, location };
}

type Grader = ReturnType<typeof toGrader>;

function toGrader(criterion: JsonValue) {
  const type = textOf(memberOf(criterion, 'type')) ?? 'unknown';
  const range = memberOf(criterion, 'range');
  const [low, high] = Array.isArray(range) ? range : [0, 1];
  const operation = textOf(memberOf(criterion, 'operation'));
  const isEqual =
    type === 'string_check' &&
    operation === 'eq' &&
    /^\s*\{\{\s*sample\.output_text\s*\}\}\s*$/.test(textOf(memberOf(criterion, 'input')) ?? '');
  return {
    ...{ id: textOf(memberOf(criterion, 'id')), name: textOf(memberOf(criterion, 'name')) },
    type: type === 'string_check' && !isEqual ? `${type} (${operation ?? 'none'})` : type,
    /** What its scores are divided by; null for a range that does not begin with 0. */
    maximum: low === 0 && typeof high === 'number' && high > 0 ? high : null,
    /** A template of what an output must equal; null for every other grader. */
    equals: isEqual ? textOf(memberOf(criterion, 'reference')) : null,
  };
}

function toItem(
  row: JsonObject,
  itemId: JsonValue,
  sample: JsonValue,
  graders: readonly Grader[],
  place: Place,
): JsonObject {
  const { id = itemId, ...meta } = row;
  const input = memberOf(sample, 'input');
  const asked = isFilled(input) ? null : promptOf(row);
  return {
    ...(typeof id === 'string' || Number.isInteger(id) ? { id } : {}),
    inputs: asked === null ? withMessages(input, place) : promptInputs(asked, place),
    ...checkOf(row, graders, place),
    ...(isFilled(meta) ? { meta } : {}),
  };
}

/** Answer and checker of an item; graders without an equivalent are counted. */
function checkOf(row: JsonObject, graders: readonly Grader[], place: Place): JsonObject {
  let check: JsonObject | null = null;
  for (const { type, equals } of graders) {
    if (equals === null || check !== null) {
      place.lost(`${check === null || equals === null ? '' : 'further '}grader ${type}`);
      continue;
    }
    const answer = rendered(equals, row);
    if (answer === undefined) place.lost(`grader ${type} with a template`);
    else check = { answer, checker: { type: 'exact_match', trim: false } };
  }
  return check ?? {};
}

function rendered(template: string, row: JsonObject): string | undefined {
  let isWhole = true;
  const text = template.replaceAll(/\{\{([^{}]*)\}\}/g, (_, inner: string) => {
    const [root, ...path] = inner.trim().split('.');
    const value = path.reduce<JsonValue>(memberOf, row);
    const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    if (root !== 'item' || path.length === 0 || !isPlain) isWhole = false;
    return String(value);
  });
  return isWhole ? text : undefined;
}

function toResult(
  value: JsonObject,
  sample: JsonValue,
  graders: readonly Grader[],
  place: Place,
): ToolResult {
  const output = elementsOf(memberOf(sample, 'output'));
  for (const message of output) {
    place.lost('tool calls', elementsOf(memberOf(message, 'tool_calls')).length);
  }
  const problem = memberOf(sample, 'error');
  const status = textOf(value['status']);
  const passed = status === 'pass' ? true : status === 'fail' ? false : null;
  // An item that ended without a verdict has failed, unless the service has none for whole items.
  const hasFailed = passed === null && status !== 'completed';
  const message = textOf(memberOf(problem, 'message')) ?? textOf(problem);
  if (passed !== null && isFilled(problem)) place.lost('errors of items with a verdict');
  const list = new ScoreList(place);
  if (passed !== null) list.add(STATUS, passed, null, passed);
  const graded = elementsOf(value['results']);
  if (hasFailed) place.lost('results of graders of failed items', graded.length);
  for (const one of hasFailed ? [] : graded) {
    const name = textOf(memberOf(one, 'name')) ?? '';
    const score = memberOf(one, 'score');
    const verdict = memberOf(one, 'passed');
    if (isFilled(memberOf(one, 'sample'))) place.lost('samples of graders');
    if (score === null && verdict === null) {
      place.lost('results of graders without a score');
      continue;
    }
    const grader = graders.find(
      (each) =>
        each.id === name ||
        each.name === name ||
        (each.name !== null && name.startsWith(each.name) && UUID.test(name.slice(each.name.length))),
    );
    const maximum = grader === undefined ? 1 : grader.maximum;
    const scaled = typeof score === 'number' ? score / (maximum ?? 1) : score;
    const isPassed = typeof verdict === 'boolean' ? verdict : passedBy(scaled);
    list.add(name, scaled, textOf(memberOf(one, 'reason')), isPassed, maximum !== null);
  }
  const usage = memberOf(sample, 'usage');
  return {
    repetition: null,
    output: output.length === 0 ? null : output.map((one) => contentText(memberOf(one, 'content'))).join(''),
    error: hasFailed ? (message ?? `The item has the status ${status ?? 'none'}.`) : null,
    scores: list.scores,
    usage: isJsonObject(usage) ? usage : null,
    finishReason: textOf(memberOf(sample, 'finish_reason')),
    traceId: textOf(value['id']),
  };
}

function toRun(found: FoundRun, run: JsonObject, ofEval: JsonObject, part: string | null): ToolRun {
  const source = run['data_source'] ?? null;
  const model =
    [textOf(run['model']), textOf(memberOf(source, 'model')), found.model].find((one) => one) ?? null;
  const created = numberOf(run['created_at']);
  const status = textOf(run['status']) ?? 'completed';
  const error = textOf(memberOf(run['error'], 'message'));
  return {
    name: textOf(run['name']) ?? model,
    part,
    mainScorer: STATUS,
    // A run that was still at work when it was read did not get there.
    status: status === 'completed' || status === 'failed' ? status : 'cancelled',
    startedAt: created === null ? null : isoTime(new Date(created * 1000)),
    finishedAt: null,
    error: status === 'failed' ? (error ?? 'The run failed.') : null,
    config: filled({
      ...{ model, eval: textOf(ofEval['name']), data_source: source },
      testing_criteria: ofEval['testing_criteria'] ?? null,
      ...{ metadata: isFilled(run['metadata']) ? membersOf(run['metadata']) : null },
    }),
  };
}

/** Samples of OpenAI's evals: `input`, a text or messages, and `ideal`, an answer or several. */
export function readOpenAiEvals(files: readonly ToolFile[], context: ReadContext): ToolContent {
  return { name: baseName(files), samples: datasetSamples(files, context) };
}

async function* datasetSamples(
  files: readonly ToolFile[],
  { limits, lost, signal }: ReadContext,
): AsyncGenerator<ToolSample, ToolRun | null> {
  for (const [index, file] of files.entries()) {
    const section = sectionName(files, file);
    for await (const { value, location } of readLines(file, limits, signal)) {
      const { input = null, ideal = null, id, metadata, ...others } = value;
      if (typeof input !== 'string' && !Array.isArray(input)) {
        throw invalidLine('input must be a text or an array of messages', location, '/input');
      }
      const place = lost.at(location);
      for (const name of Object.keys(others)) place.lost(`member ${name}`);
      const item: JsonObject = {
        ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
        inputs: withMessages(input, place),
        ...(ideal === null ? {} : { answer: ideal }),
        ...(metadata === undefined || metadata === null ? {} : { meta: { metadata } }),
      };
      // Each row stays an item of its own: files of the same name are one section.
      const key = `${index}:${String(location.line)}`;
      yield { section, key, item, sourceRow: value, result: null, location };
    }
  }
  return null;
}
