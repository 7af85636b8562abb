import { type JsonObject, setMember, skipValue } from '@svc/jsonl-v23/json';
import { PackageError } from '@svc/pkg-format';
import type { Tool, ToolFile } from './tool.ts';
import { openLog } from './tools/inspect.ts';
import { isLmEvalLine } from './tools/lm-eval.ts';
import { isTestLine } from './tools/promptfoo-tests.ts';

/** Bytes of the beginning of a file that are looked at; longer first lines are looked at whole up to `MAX_LINE_BYTES`. */
const HEAD_BYTES = 64 * 1024;
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const MAX_MEMBERS = 1000;

/**
 * Finds out by their beginnings which tool files belong to; null for none. Several files must belong to one tool.
 *
 * @throws errors of the sources
 */
export async function recogniseTool(files: readonly ToolFile[]): Promise<Tool | null> {
  const found: (Tool | null)[] = [];
  for (const file of files) found.push(await toolOf(file));
  const [first = null] = found.filter((tool) => tool !== null);
  // The results of lm-evaluation-harness hold what their samples lack. Its reader refuses them alone, and says so.
  if (first === null) return (await areResults(files)) ? 'lm-eval' : null;
  const isWhole = found.every(
    (tool, index) => tool === first || (first === 'lm-eval' && isResults(files[index])),
  );
  return isWhole ? first : null;
}

/** Whether files are nothing but results of lm-evaluation-harness, which may have what JSON does not: NaN. */
async function areResults(files: readonly ToolFile[]): Promise<boolean> {
  for (const file of files) {
    if (!/^results_.+\.json$/i.test(file.name)) return false;
    const head = new TextDecoder().decode(await file.source.read(0, Math.min(64, file.source.byteLength)));
    if (!/^\ufeff?\s*\{\s*"results"\s*:\s*\{/.test(head)) return false;
  }
  return files.length > 0;
}

const isResults = (file: ToolFile | undefined): boolean => /^results.*\.json$/i.test(file?.name ?? '');

async function toolOf(file: ToolFile): Promise<Tool | null> {
  const { name, source } = file;
  const bytes = await source.read(0, Math.min(HEAD_BYTES, source.byteLength));
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return (await isInspectArchive(file, bytes)) ? 'inspect' : null;
  const head = new TextDecoder().decode(bytes);
  if (isInspectDocument(head)) return 'inspect-json';
  if (isPromptfooResults(head)) return 'promptfoo';
  const text = await firstLine(file, head);
  if (isEvalsApi(head) || (text !== null && text.length > head.length && isEvalsApi(text))) {
    return 'openai-evals-api';
  }
  const line = text === null ? null : outline(text);
  if (line !== null) {
    if (isLmEvalLine(line)) return 'lm-eval';
    if (isBatchLine(line)) return 'openai-batch';
    if (isEvalsLine(line)) return 'openai-evals';
  }
  return isPromptfooTests(name, head, line) ? 'promptfoo' : null;
}

async function isInspectArchive(file: ToolFile, head: Uint8Array): Promise<boolean> {
  const name = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1', 30, 50);
  if (head.byteLength <= 50 || !/^(?:_journal\/|header\.json|samples\/.)/.test(name)) return false;
  if (name.startsWith('_journal/')) return true;
  try {
    const { files } = await openLog(file);
    if (files.has('_journal/start.json')) return true;
    return (
      files.has('header.json') &&
      [...files.keys()].some((path) => /^(?:samples\/|summaries\.json)/.test(path))
    );
  } catch (error) {
    // Whoever reads the archive reports what is wrong with it.
    if (error instanceof PackageError) return false;
    throw error;
  }
}

const isInspectDocument = (head: string): boolean =>
  /^\ufeff?\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"[a-z]+"\s*,\s*"eval"\s*:/.test(head);

const isPromptfooResults = (head: string): boolean =>
  /^\ufeff?\s*\{\s*"evalId"\s*:\s*(?:"[^"\\]*"|null)\s*,\s*"results"\s*:\s*\{\s*"version"\s*:/.test(head);

function isPromptfooTests(name: string, head: string, line: JsonObject | null): boolean {
  if (line !== null) return isTestLine(line);
  if (/\.ya?ml$/i.test(name)) return /^[ \t]*(?:- +)?(?:vars|assert|tests|description)[ \t]*:/m.test(head);
  return (
    /\.csv$/i.test(name) &&
    /(?:^|,)\s*"?__(?:expected|description|metadata)/.test(head.split('\n', 1)[0] ?? '')
  );
}

const isBatchLine = (line: JsonObject): boolean =>
  typeof line['custom_id'] === 'string' &&
  (Object.hasOwn(line, 'response') || Object.hasOwn(line, 'error') || Object.hasOwn(line, 'body'));

function isEvalsApi(head: string): boolean {
  const start = head.search(/[[{]/);
  if (start === -1 || !/^\ufeff?\s*$/.test(head.slice(0, start))) return false;
  try {
    return isEvalsObject(head, start);
  } catch {
    // The beginning ends before the object does, or is no JSON.
    return false;
  }
}

function isEvalsObject(text: string, start: number): boolean {
  if (text[start] === '[') {
    const first = afterBlanks(text, start + 1);
    return text[first] === '{' && isEvalsObject(text, first);
  }
  for (const { key, value } of membersAt(text, start)) {
    if (key === 'data' && text[value] === '[') return isEvalsObject(text, value);
    const stated = key === 'object' ? text.slice(value, skipValue(text, value)) : '"list"';
    if (stated !== '"list"') return /^"eval(?:\.run(?:\.output_item)?)?"$/.test(stated);
  }
  return false;
}

const isEvalsLine = (line: JsonObject): boolean =>
  Object.hasOwn(line, 'input') && Object.hasOwn(line, 'ideal');

async function firstLine({ source }: ToolFile, head: string): Promise<string | null> {
  const start = head.replace(/^\ufeff/, '').trimStart();
  if (!start.startsWith('{')) return null;
  let text = start.split('\n', 1)[0] ?? '';
  if (text.length === start.length && source.byteLength > HEAD_BYTES) {
    const bytes = await source.read(0, Math.min(MAX_LINE_BYTES, source.byteLength));
    text = new TextDecoder().decode(bytes).trimStart().split('\n', 1)[0] ?? '';
  }
  return text;
}

/** Texts and objects become empty, other values null. Null for no object, and for more members than any tool writes. */
function outline(text: string): JsonObject | null {
  const members: JsonObject = {};
  try {
    for (const { key, value } of membersAt(text, 0)) {
      setMember(members, key, text[value] === '"' ? '' : text[value] === '{' ? {} : null);
    }
    return members;
  } catch {
    return null;
  }
}

/** The keys of an object, and the indexes of their values, as far as they are asked for. @throws for what is no object */
function* membersAt(
  text: string,
  start: number,
): Generator<{ readonly key: string; readonly value: number }> {
  let at = afterBlanks(text, start + 1);
  for (let count = 0; text[at] !== '}'; count += 1) {
    const afterKey = skipValue(text, at);
    const key = JSON.parse(text.slice(at, afterKey)) as unknown;
    const colon = afterBlanks(text, afterKey);
    if (typeof key !== 'string' || text[colon] !== ':' || count === MAX_MEMBERS)
      throw new SyntaxError('No object.');
    const value = afterBlanks(text, colon + 1);
    yield { key, value };
    at = afterBlanks(text, skipValue(text, value));
    if (text[at] === ',') at = afterBlanks(text, at + 1);
    else if (text[at] !== '}') throw new SyntaxError('No object.');
  }
}

function afterBlanks(text: string, start: number): number {
  let at = start;
  while (' \t\r\n'.includes(text[at] ?? '?')) at += 1;
  return at;
}
