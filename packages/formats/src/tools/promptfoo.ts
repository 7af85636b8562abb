import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  JsonStream,
  type JsonValue,
} from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import type { Place } from '../lost.ts';
import { OWN_ITEM, ownItem, promptInputs } from '../messages.ts';
import {
  baseName,
  bytesOf,
  elementsOf,
  filled,
  invalidLine,
  isFilled,
  isoTime,
  memberOf,
  membersOf,
  nextValue,
  numberOf,
  sectionName,
  textOf,
} from '../read-json.ts';
import { ScoreList } from '../scores.ts';
import type { ReadContext, ToolContent, ToolFile, ToolResult, ToolRun, ToolSample } from '../tool.ts';
import { checkOf } from './promptfoo-assertions.ts';
import { isTest, readTests } from './promptfoo-tests.ts';

/** Whether a document begins as results of any version of promptfoo. */
const isResultsDocument = (head: string): boolean => /^\ufeff?\s*\{\s*"(?:evalId|results)"\s*:/.test(head);

/** `results.json`, or tests as JSON Lines, YAML or CSV. */
export async function readPromptfoo(files: readonly ToolFile[], context: ReadContext): Promise<ToolContent> {
  const [file, second] = files;
  if (file === undefined) throw new RangeError('An import has at least one file.');
  const head = new TextDecoder().decode(await file.source.read(0, Math.min(4096, file.source.byteLength)));
  const areTests = !isResultsDocument(head);
  if (second !== undefined && !areTests) {
    const message = 'Results of promptfoo must come one file at a time.';
    throw new PackageError('package_unsupported', message, { entry: second.name });
  }
  return { name: baseName(files), samples: areTests ? tests(files, context) : results(file, context) };
}

async function* tests(files: readonly ToolFile[], context: ReadContext): AsyncGenerator<ToolSample, null> {
  // The tests of all files: files of the same name are one section.
  let index = 0;
  for (const file of files) {
    const section = sectionName(files, file);
    for await (const { value, location } of readTests(file, context)) {
      if (!isTest(value)) {
        const message = 'A test of promptfoo must have vars, assert or description.';
        throw new PackageError('package_unsupported', message, { entry: file.name, location });
      }
      const item = toItem(value, promptOf(membersOf(value['vars'])), context.lost.at(location));
      yield { section, key: String(index), item, sourceRow: value, result: null, location };
      index += 1;
    }
  }
  return null;
}

async function* results(
  file: ToolFile,
  { limits, signal, lostOf }: ReadContext,
): AsyncGenerator<ToolSample, ReadonlyMap<number, ToolRun>> {
  const options = { file: file.name, maxDepth: limits.maxDepth, maxValueLength: limits.maxLineBytes };
  await using json = new JsonStream(bytesOf(file, signal), options);
  const facts: JsonObject = {};
  const pairs = new Map<number, Pair>();
  for await (const key of json.members()) {
    if (key !== 'results' || (await json.peek()) !== 'object') {
      if (key === 'config' || key === 'metadata') facts[key] = await nextValue(json, limits);
      continue;
    }
    for await (const inner of json.members()) {
      if (inner !== 'results') {
        if (inner === 'version' || inner === 'timestamp') facts[inner] = await nextValue(json, limits);
        if (inner === 'version') checkVersion(facts, file.name);
        continue;
      }
      for await (const index of json.items()) {
        const location = { file: file.name, path: `/results/results/${index}` };
        const value = await nextValue(json, limits);
        if (!isJsonObject(value)) throw invalidLine('A result must be an object', location);
        // A run has one prompt and one provider; each pair of them has a number.
        const run = numberOf(value['promptIdx']) ?? 0;
        if (!pairs.has(run)) pairs.set(run, pairOf(value));
        yield { ...toSample(value, lostOf(run).at(location)), run };
      }
    }
  }
  await json.end();
  checkVersion(facts, file.name);
  const prompts = [...new Set(Array.from(pairs.values(), ({ promptId }) => promptId))];
  return new Map(
    Array.from(pairs, ([run, pair]) => {
      const number = prompts.length === 1 ? null : prompts.indexOf(pair.promptId) + 1;
      return [run, toRun(facts, pair, number, pairs.size)] as const;
    }),
  );
}

type Pair = ReturnType<typeof pairOf>;

function pairOf({ provider = null, prompt = null, promptId = null }: JsonObject) {
  const filledText = (value: JsonValue): string | null => textOf(value) || null;
  const model =
    filledText(provider) ?? filledText(memberOf(provider, 'label')) ?? filledText(memberOf(provider, 'id'));
  const label = textOf(memberOf(prompt, 'label')) ?? '';
  return { model, promptId: textOf(promptId) ?? label, prompt: label };
}

function checkVersion({ version }: JsonObject, entry: string): void {
  if (version === 3) return;
  throw new PackageError('package_unsupported', 'Results of promptfoo must have version 3.', { entry });
}

function toSample(result: JsonObject, place: Place): ToolSample {
  const test = membersOf(result['testCase']);
  const asked = textOf(memberOf(result['prompt'] ?? null, 'raw'));
  const vars = isFilled(test['vars']) ? membersOf(test['vars']) : membersOf(result['vars']);
  const item = toItem({ ...test, vars }, asked ?? promptOf(vars), place);
  // A repeated test has another number, and is the same item.
  return {
    section: 'default',
    key: canonicalJson(item),
    item,
    sourceRow: test,
    result: toResult(result, place),
    location: place.location,
  };
}

/** The variable that is most likely the question. */
export function promptOf(vars: JsonObject): string | null {
  const texts = Object.entries(vars).filter(([, value]) => typeof value === 'string');
  const named = ['prompt', 'question', 'query', 'input', 'message', 'text'];
  const known = named.find((name) => texts.some(([key]) => key === name));
  return textOf(known === undefined ? texts[0]?.[1] : vars[known]);
}

function toItem(test: JsonObject, asked: string | null, place: Place): JsonObject {
  const own = ownItem(test['metadata'] ?? null, place);
  if (own !== null) return own;
  const { vars = null, description = null, metadata = null, assert = null } = test;
  for (const name of Object.keys(test))
    if (!KNOWN.has(name) && isFilled(test[name])) place.lost(`${name} of tests`);
  const { [OWN_ITEM]: _, ...others } = membersOf(metadata);
  const meta = filled({
    ...others,
    ...(isFilled(vars) ? { vars } : {}),
    ...(isFilled(description) ? { description } : {}),
  });
  return {
    inputs: asked === null ? {} : promptInputs(asked, place),
    ...checkOf(elementsOf(assert), membersOf(vars), place),
    ...(isFilled(meta) ? { meta } : {}),
  };
}

const KNOWN: ReadonlySet<string> = new Set(['vars', 'description', 'metadata', 'assert', 'options']);

function toResult(result: JsonObject, place: Place): ToolResult {
  const response = membersOf(result['response']);
  const grading = membersOf(result['gradingResult']);
  const reason = textOf(grading['reason']);
  const list = new ScoreList(place);
  const hasFailed = result['failureReason'] === 2;
  const passed = verdictOf(result);
  if (!hasFailed && (passed !== null || isFilled(result['gradingResult']))) {
    list.add('score', result['score'], reason, passed);
  }
  for (const [name, score] of Object.entries(membersOf(result['namedScores']))) list.add(name, score, null);
  if (isFilled(response['toolCalls'])) place.lost('tool calls');
  if (isFilled(grading['componentResults'])) {
    place.lost('results of single assertions', elementsOf(grading['componentResults']).length);
  }
  if ((numberOf(result['cost']) ?? 0) > 0) place.lost('costs');
  const tokens = membersOf(response['tokenUsage']);
  const usage = filled({
    prompt_tokens: tokens['prompt'] ?? null,
    completion_tokens: tokens['completion'] ?? null,
  });
  const error = textOf(response['error']) ?? (hasFailed ? textOf(result['error']) : null);
  const latencyMs = numberOf(result['latencyMs']);
  return {
    repetition: null,
    output: response['output'] ?? null,
    error: error ?? (hasFailed ? 'The request failed.' : null),
    scores: list.scores,
    latencyMs,
    usage: isFilled(usage) ? usage : null,
    finishReason: textOf(response['finishReason']),
  };
}

/** Whether a result has passed. A failure without a reason is ours: it was not scored, or has neither passed nor failed. */
function verdictOf({ success = null, failureReason = null }: JsonObject): boolean | null {
  if (typeof success !== 'boolean') return null;
  return success || failureReason !== NO_REASON ? success : null;
}

const NO_REASON = 0;

/** @param prompt its number in the file, from 1; null for the only one @param runs of the file */
function toRun(
  facts: JsonObject,
  { model, prompt: label }: Pair,
  prompt: number | null,
  runs: number,
): ToolRun {
  const finishedAt = isoTime(new Date(textOf(facts['timestamp']) ?? ''));
  const config = membersOf(facts['config']);
  const description = textOf(config['description']) || null;
  const called = [description, model, prompt === null ? null : `prompt ${prompt}`].filter(
    (one) => one !== null,
  );
  return {
    part: prompt === null ? null : `prompt ${prompt}`,
    ...{
      name: runs === 1 ? (description ?? model) : called.join(', ') || null,
      status: 'completed',
      startedAt: null,
      finishedAt,
      error: null,
    },
    config: filled({
      model,
      tool_version: memberOf(facts['metadata'] ?? null, 'promptfooVersion'),
      description: config['description'] ?? null,
      prompts: runs === 1 ? (config['prompts'] ?? null) : null,
      prompt: runs === 1 ? null : label,
    }),
  };
}
