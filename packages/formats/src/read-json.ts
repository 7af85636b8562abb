import { JsonlError, type SourceLocation, toDatasetName } from '@svc/jsonl-v23';
import {
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonStream,
  type JsonValue,
  MAX_LINE_VALUES,
  parseJson,
  replacePythonLiterals,
  ValueCounter,
} from '@svc/jsonl-v23/json';
import { linesOf, splitLines } from '@svc/jsonl-v23/lines';
import { PackageError, type PackageLimits, readRange } from '@svc/pkg-format';
import type { ToolFile } from './tool.ts';

export const bytesOf = ({ source }: ToolFile, signal?: AbortSignal): AsyncGenerator<Uint8Array> =>
  readRange(source, 0, source.byteLength, signal);

/** The text of a file that is read whole, without its byte order mark. @throws PackageError `package_limit` */
export async function wholeText(
  file: ToolFile,
  maxBytes: number,
  tooLong: string,
  signal?: AbortSignal,
): Promise<string> {
  if (file.source.byteLength > maxBytes) {
    throw new PackageError('package_limit', tooLong, { entry: file.name });
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytesOf(file, signal)) chunks.push(chunk);
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/**
 * Parses JSON as Python writes it: `NaN` and `Infinity` become null.
 * @param infinity JSON in place of `Infinity`, where it must differ from `NaN`
 * @throws JsonlError with its location
 */
export function parsePythonJson(
  text: string,
  location: SourceLocation,
  maxDepth: number,
  infinity: string = 'null',
): JsonValue {
  return parseJson(replacePythonLiterals(text, 'null', infinity), { location, maxDepth });
}

/** The next value of a document, which holds as many values as a line may. @throws JsonlError with its location */
export async function nextValue(json: JsonStream, { maxDepth }: PackageLimits): Promise<JsonValue> {
  const { text, location } = await json.text(MAX_LINE_VALUES);
  return parsePythonJson(text, location, maxDepth);
}

/** Values and characters that members of one object may still take together, if it is held whole. */
export class ValueBudget {
  readonly #limits: PackageLimits;
  readonly #maxLength: number;
  #length = 0;
  #values = 0;

  constructor(limits: PackageLimits, maxLength: number) {
    this.#limits = limits;
    this.#maxLength = maxLength;
  }

  async next(json: JsonStream, infinity?: string): Promise<JsonValue> {
    const { text, location } = await json.text(MAX_LINE_VALUES - this.#values).catch((error: unknown) => {
      if (!(error instanceof JsonlError) || !error.message.includes(' values')) throw error;
      const problem = `What is read of the object has more than ${MAX_LINE_VALUES} values`;
      throw new JsonlError('line_too_long', problem, error.location);
    });
    this.#length += text.length;
    if (this.#length > this.#maxLength) {
      const problem = `What is read of the object is longer than ${this.#maxLength} characters`;
      throw new JsonlError('line_too_long', problem, location);
    }
    this.#values += valuesIn(text);
    return parsePythonJson(text, location, this.#limits.maxDepth, infinity);
  }
}

const valuesIn = (text: string): number => {
  const counter = new ValueCounter();
  counter.add(new TextEncoder().encode(text));
  return counter.values;
};

export interface Line {
  readonly value: JsonObject;
  readonly location: SourceLocation;
}

/** Each line must be an object. @throws JsonlError and PackageError with file and line */
export async function* readLines(
  file: ToolFile,
  { maxLineBytes, maxDepth }: PackageLimits,
  signal?: AbortSignal,
): AsyncGenerator<Line> {
  const options = { file: file.name, maxLineBytes, ...(signal && { signal }) };
  for await (const batch of splitLines(bytesOf(file, signal), options)) {
    for (const { line, bytes } of linesOf(batch)) {
      const location = { file: file.name, line };
      const text = decode(bytes, location);
      if (text.trim() === '') continue;
      const value = parsePythonJson(text, location, maxDepth);
      if (!isJsonObject(value)) throw invalidLine('The line must be an object', location);
      yield { value, location };
    }
  }
}

function decode(bytes: Uint8Array, location: SourceLocation): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidLine('The line must be UTF-8', location);
  }
}

export function invalidLine(problem: string, location: SourceLocation, path?: string): PackageError {
  const { file } = location;
  return new PackageError('package_invalid_line', `${problem}.`, {
    ...(file !== undefined && { entry: file }),
    location: path === undefined ? location : { ...location, path: `${location.path ?? ''}${path}` },
  });
}

export const memberOf = (value: JsonValue | undefined, key: string): JsonValue =>
  isJsonObject(value) ? (getMember(value, key) ?? null) : null;

/** The members of an object; none for another value. */
export const membersOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

export const textOf = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' ? value : null;

export const numberOf = (value: JsonValue | undefined): number | null =>
  typeof value === 'number' ? value : null;

export const elementsOf = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? value : [];

export const isoTime = (time: Date): string | null =>
  Number.isNaN(time.getTime()) ? null : time.toISOString();

export function isFilled(value: JsonValue | undefined): boolean {
  if (value === null || value === undefined || value === '') return false;
  if (Array.isArray(value)) return value.length > 0;
  return !isJsonObject(value) || Object.keys(value).length > 0;
}

export function filled(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== null && value !== undefined),
  );
}

export const pick = (object: JsonObject, ...names: readonly string[]): JsonObject =>
  filled(Object.fromEntries(names.map((name) => [name, object[name] ?? null])));

export function baseName(files: readonly Pick<ToolFile, 'name'>[]): string {
  return datasetName((files[0]?.name ?? '').replace(/\.(?:jsonl|json|eval|ya?ml|csv)$/i, ''));
}

export const sectionName = (files: readonly ToolFile[], file: ToolFile): string =>
  files.length === 1 ? 'default' : baseName([file]);

export function datasetName(text: string): string {
  return toDatasetName(text, 'import');
}
