import {
  isJsonObject,
  JsonlError,
  type JsonObject,
  JsonStream,
  type JsonValue,
  type LocatedText,
  parseJson,
} from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';

/** A part of a JSON file that contains items, in the order of the file. */
export type JsonPart =
  /** The start of an `items` list. `section` is its index in `sections`; null if the file is one section. */
  | { readonly kind: 'items'; readonly section: number | null }
  | ({ readonly kind: 'item'; readonly section: number | null; readonly index: number } & LocatedText)
  /** Another member of the root, or of an element of `sections`. */
  | {
      readonly kind: 'member';
      readonly section: number | null;
      readonly key: string;
      readonly value: JsonValue;
    };

export interface SplitJsonOptions {
  readonly file: string;
  /** One item, and all other members together. */
  readonly maxValueBytes: number;
  readonly maxDepth: number;
}

/**
 * Splits a JSON file of any size into its items: an array of objects, `{"items": [...]}`, or
 * `{"sections": [{"name", "items": [...]}]}`. One item is in memory at a time. Other JSON objects give only members, and
 * other JSON values nothing.
 */
export async function* splitJsonItems(
  bytes: AsyncIterable<Uint8Array>,
  options: SplitJsonOptions,
): AsyncGenerator<JsonPart> {
  const { file, maxDepth, maxValueBytes } = options;
  await using json = new JsonStream(bytes, { file, maxDepth, maxValueLength: maxValueBytes });
  const reader = partReader(json, options);
  try {
    const kind = await json.peek();
    if (kind === 'array') yield* rootItems(json, reader);
    else if (kind === 'object') yield* objectMembers(json, reader, null);
    else await reader.value();
    if ((await json.peek()) !== 'end') throw severalValues(json, options.file);
  } catch (error) {
    throw toPackageError(error, options);
  }
}

async function* rootItems(json: JsonStream, reader: PartReader): AsyncGenerator<JsonPart> {
  let hasItems = false;
  for await (const index of json.items()) {
    if (index === 0) hasItems = (await json.peek()) === 'object';
    // Elements that are not read are skipped.
    if (!hasItems) continue;
    if (index === 0) yield { kind: 'items', section: null };
    yield { kind: 'item', section: null, index, ...(await reader.text()) };
  }
}

/** Members of the root (`section` null) or of an element of its `sections`. */
async function* objectMembers(
  json: JsonStream,
  reader: PartReader,
  section: number | null,
): AsyncGenerator<JsonPart> {
  for await (const key of json.members()) {
    reader.count(key.length);
    const isArray = (await json.peek()) === 'array';
    if (key === 'items' && isArray) {
      yield { kind: 'items', section };
      for await (const index of json.items()) {
        yield { kind: 'item', section, index, ...(await reader.text()) };
      }
    } else if (key === 'sections' && section === null && isArray) {
      yield* sectionMembers(json, reader);
    } else yield { kind: 'member', section, key, value: await reader.value() };
  }
}

async function* sectionMembers(json: JsonStream, reader: PartReader): AsyncGenerator<JsonPart> {
  for await (const index of json.items()) {
    if ((await json.peek()) === 'object') yield* objectMembers(json, reader, index);
    else yield { kind: 'member', section: index, key: '', value: await reader.value() };
  }
}

function partReader(json: JsonStream, { maxValueBytes, maxDepth }: SplitJsonOptions) {
  let memberLength = 0;
  const check = (isWithin: boolean): void => {
    if (!isWithin) throw new JsonlError('line_too_long', 'The value is too long', json.location);
  };
  const count = (length: number): void => {
    memberLength += length;
    check(memberLength <= maxValueBytes);
  };
  const text = async (): Promise<LocatedText> => {
    const value = await json.text();
    // A UTF-16 code unit is at most three bytes of UTF-8.
    check(value.text.length * 3 <= maxValueBytes || utf8Length(value.text) <= maxValueBytes);
    return value;
  };
  return {
    text,
    count,
    /** A value that is not an item. */
    async value(): Promise<JsonValue> {
      const { text: found, location } = await text();
      count(found.length);
      return parseJson(found, { maxDepth, location });
    },
  };
}

type PartReader = ReturnType<typeof partReader>;

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

export function parseItemAt({ text, location }: LocatedText, options: SplitJsonOptions): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(text, { maxDepth: options.maxDepth, location });
  } catch (error) {
    throw toPackageError(error, options);
  }
  if (isJsonObject(value)) return value;
  const { file } = options;
  throw new PackageError('package_invalid_line', `An item of ${quote(file)} is not an object.`, {
    entry: file,
    location,
  });
}

function severalValues(json: JsonStream, file: string): PackageError {
  const message = `${quote(file)} contains more than one JSON value. Name a file of JSON Lines .jsonl.`;
  return new PackageError('package_invalid_json', message, { entry: file, location: json.location });
}

function toPackageError(error: unknown, { file, maxValueBytes }: SplitJsonOptions): unknown {
  if (!(error instanceof JsonlError)) return error;
  const options = { entry: file, location: error.location, cause: error };
  if (error.code === 'line_too_long') {
    const message = `${quote(file)} contains a value of more than ${maxValueBytes} bytes.`;
    return new PackageError('package_limit', message, options);
  }
  return new PackageError('package_invalid_json', `Cannot parse ${quote(file)}: ${error.message}.`, options);
}
