import { parseYamlApart } from '@svc/hub-client';
import type { SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import { detectFormat, openByteSource, openFileTable, TableError } from '@svc/tabular';
import {
  elementsOf,
  invalidLine,
  isFilled,
  type Line,
  memberOf,
  membersOf,
  readLines,
  wholeText,
} from '../read-json.ts';
import type { ReadContext, ToolFile } from '../tool.ts';

const MAX_YAML_BYTES = 4 * 1024 * 1024;

export const isTestLine = (line: JsonObject): boolean =>
  isJsonObject(line['vars']) && Object.keys(line).every((name) => MEMBERS.has(name));

/** Whether an object may be a test: one of these members makes it one. */
export const isTest = (value: JsonObject): boolean =>
  ['vars', 'assert', 'description'].some((name) => Object.hasOwn(value, name));

const MEMBERS: ReadonlySet<string> = new Set([
  ...[
    'vars',
    'assert',
    'description',
    'metadata',
    'options',
    'threshold',
    'provider',
    'providers',
    'assertScoringFunction',
  ],
  ...['providerOutput', 'prompts'],
]);

/** Tests of promptfoo, by the name of the file. @throws PackageError with file, and line or JSON Pointer */
export async function* readTests(file: ToolFile, context: ReadContext): AsyncGenerator<Line> {
  const tests = /\.ya?ml$/i.test(file.name)
    ? readYaml(file, context)
    : /\.csv$/i.test(file.name)
      ? readCsv(file, context)
      : readLines(file, context.limits, context.signal);
  for await (const { value, location } of tests) {
    for (const test of expanded(value, location)) yield { value: test, location };
  }
}

const MAX_EXPANDED = 10_000;

/** The tests that a test stands for: one for each combination of elements of its variables that are lists. */
function* expanded(test: JsonObject, location: SourceLocation): Generator<JsonObject> {
  const vars = membersOf(test['vars']);
  const lists = Object.entries(vars).filter(
    (entry): entry is [string, JsonValue[]] => Array.isArray(entry[1]) && entry[1].length > 0,
  );
  if (lists.length === 0 || memberOf(test['options'] ?? null, 'disableVarExpansion') === true) {
    yield test;
    return;
  }
  const count = lists.reduce((product, [, list]) => product * list.length, 1);
  if (count > MAX_EXPANDED) {
    const problem = `The lists of a test's vars must make at most ${MAX_EXPANDED} tests, got ${count}`;
    throw invalidLine(problem, location, '/vars');
  }
  for (let index = 0; index < count; index += 1) {
    const chosen: JsonObject = { ...vars };
    let rest = index;
    for (const [name, list] of lists.toReversed()) {
      setMember(chosen, name, list[rest % list.length] ?? null);
      rest = Math.floor(rest / list.length);
    }
    yield { ...test, vars: chosen };
  }
}

async function* readYaml(file: ToolFile, { lost, signal }: ReadContext): AsyncGenerator<Line> {
  const tooLong = `A YAML file must have at most ${MAX_YAML_BYTES} bytes; JSON Lines may be longer.`;
  const value = await parse(await wholeText(file, MAX_YAML_BYTES, tooLong, signal), file.name);
  const tests = Array.isArray(value) ? value : elementsOf(memberOf(value, 'tests'));
  const { tests: _, description: __, defaultTest = null, ...others } = membersOf(value);
  for (const [name, member] of Object.entries(others)) {
    const count = Array.isArray(member) ? member.length : 1;
    if (isFilled(member)) lost.add(`${name} of the configuration`, { file: file.name }, count);
  }
  // A text is the address of a file.
  if (isFilled(defaultTest) && !isJsonObject(defaultTest)) {
    lost.add('defaultTest of the configuration', { file: file.name });
  }
  for (const [index, test] of tests.entries()) {
    const location: SourceLocation = {
      file: file.name,
      path: `${Array.isArray(value) ? '' : '/tests'}/${index}`,
    };
    if (!isJsonObject(test)) throw invalidLine('A test must be an object', location);
    yield { value: withDefaults(test, membersOf(defaultTest)), location };
  }
}

function withDefaults(test: JsonObject, defaults: JsonObject): JsonObject {
  if (!isFilled(defaults)) return test;
  const merged = (name: string): JsonObject => {
    const both = { ...membersOf(defaults[name]), ...membersOf(test[name]) };
    return isFilled(both) ? { [name]: both } : {};
  };
  const assert = [...elementsOf(defaults['assert']), ...elementsOf(test['assert'])];
  return {
    ...{ ...defaults, ...test, ...merged('vars'), ...merged('metadata'), ...merged('options') },
    ...(assert.length === 0 ? {} : { assert }),
  };
}

async function parse(text: string, file: string): Promise<JsonValue> {
  try {
    return (await parseYamlApart(text, { file })) as JsonValue;
  } catch (error) {
    const { message, location = { file } } = error as Error & { location?: SourceLocation };
    throw new PackageError('package_invalid_json', message.replace('metadata', 'YAML'), {
      ...{ entry: file, location, cause: error },
    });
  }
}

/** Columns are variables, except names that begin with two underscores. Every cell is a text, as for the tool. */
async function* readCsv(file: ToolFile, { signal }: ReadContext): AsyncGenerator<Line> {
  let row = 0;
  try {
    const source = await openByteSource(file.source, { path: file.name, ...(signal && { signal }) });
    const detected = await detectFormat(source, { format: 'csv', signal });
    const table = await openFileTable(source, detected, { textColumns: 'all', signal });
    for await (const { rows } of table.read({ signal })) {
      for (const cells of rows) {
        yield { value: toTest(cells), location: { file: file.name, row } };
        row += 1;
      }
    }
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const location = { file: file.name, ...error.location };
    throw new PackageError('package_invalid_line', error.message, {
      entry: file.name,
      location,
      cause: error,
    });
  }
}

function toTest(cells: JsonObject): JsonObject {
  const vars: JsonObject = {};
  const metadata: JsonObject = {};
  const assert: JsonObject[] = [];
  const test: JsonObject = { vars, metadata, assert };
  for (const [column, cell] of Object.entries(cells)) {
    if (cell === null) continue;
    const text = typeof cell === 'string' ? cell : String(cell);
    if (/^__expected\d*$/.test(column)) {
      if (text !== '') assert.push(toAssertion(text));
    } else if (column === '__description') test['description'] = text;
    else if (column.startsWith('__metadata:')) {
      const key = column.slice('__metadata:'.length);
      if (key.endsWith('[]')) setMember(metadata, key.slice(0, -2), listOf(text));
      else setMember(metadata, key, text);
    } else if (column.startsWith('__')) setMember(test, column, text);
    else setMember(vars, column, text);
  }
  return test;
}

/** The elements of a cell: a comma separates them, and `\\,` is a comma. */
const listOf = (text: string): JsonValue[] =>
  text === '' ? [] : text.split(/(?<!\\),/).map((one) => one.trim().replaceAll('\\,', ','));

/** What a cell expects: `type(threshold): value`, each part but the type optional, or the text itself. */
function toAssertion(text: string): JsonObject {
  const [, stated, rest] = ASSERTION.exec(text) ?? [];
  if (stated === undefined) return { type: 'equals', value: text };
  const type = stated === 'grade' ? 'llm-rubric' : stated;
  if (rest === undefined) return { type };
  return { type, value: /-(?:any|all)$/.test(type) ? rest.split(',').map((one) => one.trim()) : rest };
}

const TYPES = [
  ...['answer-relevance', 'bleu', 'classifier', 'contains', 'contains-all', 'contains-any', 'contains-html'],
  ...['contains-json', 'contains-sql', 'contains-xml', 'context-faithfulness', 'context-recall', 'cost'],
  ...['context-relevance', 'conversation-relevance', 'equals', 'eval', 'factuality', 'finish-reason', 'fn'],
  ...['g-eval', 'gleu', 'grade', 'guardrails', 'icontains', 'icontains-all', 'icontains-any', 'is-html'],
  ...['is-json', 'is-refusal', 'is-sql', 'is-valid-function-call', 'is-valid-openai-function-call', 'is-xml'],
  ...['is-valid-openai-tools-call', 'javascript', 'latency', 'levenshtein', 'llm-rubric', 'meteor', 'pi'],
  ...['model-graded-closedqa', 'model-graded-factuality', 'moderation', 'perplexity', 'perplexity-score'],
  ...['python', 'regex', 'rouge-n', 'ruby', 'search-rubric', 'select-best', 'similar', 'starts-with'],
  ...['tool-call-f1', 'webhook', 'word-count'],
];
const ASSERTION = new RegExp(`^((?:not-)?(?:${TYPES.join('|')}))(?:\\([^)]*\\))?\\s*(?::\\s*([\\s\\S]*))?$`);
