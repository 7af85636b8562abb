import { parseYamlApart } from '@svc/hub-client/internal';
import type { SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import { detectFormat, openByteSource, openFileTable, TableError } from '@svc/tabular';
import { elementsOf, invalidLine, type Line, memberOf, readLines, wholeText } from '../read-json.ts';
import type { ReadContext, ToolFile } from '../tool.ts';

/** Bytes of a YAML file, which is read whole. */
const MAX_YAML_BYTES = 4 * 1024 * 1024;

/** Whether a line is a test. */
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
export function readTests(file: ToolFile, context: ReadContext): AsyncGenerator<Line> {
  if (/\.ya?ml$/i.test(file.name)) return readYaml(file, context);
  if (/\.csv$/i.test(file.name)) return readCsv(file, context);
  return readLines(file, context.limits, context.signal);
}

async function* readYaml(file: ToolFile, { signal }: ReadContext): AsyncGenerator<Line> {
  const tooLong = `A YAML file must have at most ${MAX_YAML_BYTES} bytes; JSON Lines may be longer.`;
  const value = await parse(await wholeText(file, MAX_YAML_BYTES, tooLong, signal), file.name);
  const tests = Array.isArray(value) ? value : elementsOf(memberOf(value, 'tests'));
  for (const [index, test] of tests.entries()) {
    const location: SourceLocation = {
      file: file.name,
      path: `${Array.isArray(value) ? '' : '/tests'}/${index}`,
    };
    if (!isJsonObject(test)) throw invalidLine('A test must be an object', location);
    yield { value: test, location };
  }
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

/** Columns are variables, but for those whose names begin with two underscores. Every cell is a text, as for the tool. */
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
    else if (column.startsWith('__metadata:')) setMember(metadata, column.slice('__metadata:'.length), text);
    else if (column.startsWith('__')) setMember(test, column, text);
    else setMember(vars, column, text);
  }
  return test;
}

/** What a cell expects: `type: value`, or the very text. */
function toAssertion(text: string): JsonObject {
  const [, stated, rest = ''] = /^((?:not-)?[a-z][a-z-]*)(?:\([^)]*\))?\s*:\s*([\s\S]*)$/.exec(text) ?? [];
  if (stated === undefined || !TYPES.test(stated)) return { type: 'equals', value: text };
  const type = stated === 'grade' ? 'llm-rubric' : stated;
  const values = rest.split(',').map((one) => one.trim());
  return { type, value: /-(?:any|all)$/.test(type) ? values : rest };
}

const TYPES =
  /^(?:not-)?(?:equals|i?contains(?:-any|-all)?|contains-json|is-json|regex|starts-with|llm-rubric|grade|javascript|python|fn|eval|similar|levenshtein|rouge-n|latency|cost|factuality|g-eval|webhook|answer-relevance|model-graded-closedqa)$/;
