import { createHash } from 'node:crypto';
import { JsonlError } from '@svc/jsonl-v23';
import {
  canonicalJson,
  hasMoreValues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_LINE_VALUES,
  parseJson,
  skipValue,
} from '@svc/jsonl-v23/json';

export interface EditsBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly maxDepth: number;
}

/** An item of an edit, which passes between threads without its values. */
export interface ItemText {
  /** Its canonical text and a line feed, in UTF-8. */
  readonly line: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the line, in hexadecimal digits. */
  readonly sha256: string;
}

/**
 * Reads a body `{edits: [{item_id, item, …}], …}`. It is a pure function, so any thread may do it. Members are not
 * checked.
 *
 * @returns the body, with an {@link ItemText} for each `item` that is an object, and each `item_id` as its canonical text
 * @throws JsonlError as `parseJson`; `invalid_utf8`; `line_too_long` for an edit with more values than an item may have
 */
export function readEdits({ bytes, maxDepth }: EditsBody): JsonValue {
  const text = decode(bytes);
  const elements = editsIn(text);
  const [first, last] = [elements[0], elements.at(-1)];
  if (first !== undefined && last !== undefined) {
    for (const [index, { start, end }] of elements.entries()) {
      if (hasMoreValues(text.slice(start, end), MAX_LINE_VALUES)) {
        const message = `An edit must have at most ${MAX_LINE_VALUES} JSON values`;
        throw new JsonlError('line_too_long', message, { path: `/edits/${index}` });
      }
    }
    try {
      const rest = parseJson(text.slice(0, first.start) + text.slice(last.end), { maxDepth });
      // One edit after the other, so that only its values are in memory.
      const edits = elements.map(({ start, end }) =>
        readEdit(parseJson(text.slice(start, end), { maxDepth: maxDepth - 2 })),
      );
      return { ...(rest as JsonObject), edits };
    } catch (error) {
      // Reading it as a whole fails at the right place.
      if (!(error instanceof JsonlError)) throw error;
    }
  }
  const body = parseJson(text, { maxDepth });
  if (!isJsonObject(body) || !Array.isArray(body['edits'])) return body;
  return { ...body, edits: body['edits'].map(readEdit) };
}

/** Where the elements of the member `edits` are in the text of an object; none if there are none, or it is no JSON. */
function editsIn(text: string): readonly { readonly start: number; readonly end: number }[] {
  const elements: { start: number; end: number }[] = [];
  let at = 0;
  const next = (): string | undefined => {
    while (at < text.length && ' \t\n\r'.includes(text[at] as string)) at += 1;
    return text[at];
  };
  const isNext = (character: string): boolean => {
    if (next() !== character) return false;
    at += 1;
    return true;
  };
  const skip = (): string => {
    next();
    const start = at;
    at = skipValue(text, start);
    return text.slice(start, at);
  };
  try {
    if (!isNext('{')) return [];
    do {
      const isEdits = skip() === '"edits"';
      if (!isNext(':')) return [];
      if (!isEdits) skip();
      else {
        if (!isNext('[')) return [];
        do {
          next();
          const start = at;
          at = skipValue(text, start);
          elements.push({ start, end: at });
        } while (isNext(','));
        return isNext(']') ? elements : [];
      }
    } while (isNext(','));
  } catch {
    // The value has no end.
  }
  return [];
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new JsonlError('invalid_utf8', 'The body must be valid UTF-8', {}, { cause: error });
  }
}

export function itemBuffersOf(body: JsonValue): ArrayBuffer[] {
  const edits = isJsonObject(body) && Array.isArray(body['edits']) ? body['edits'] : [];
  return (edits as readonly ({ readonly item?: Partial<ItemText> | null } | null)[]).flatMap((edit) => {
    const line = edit?.item?.line;
    return line === undefined ? [] : [line.buffer];
  });
}

function readEdit(edit: JsonValue): JsonValue {
  if (!isJsonObject(edit)) return edit;
  const { item, item_id: id, ...rest } = edit;
  return {
    ...rest,
    ...(id === undefined ? {} : { item_id: canonicalJson(id) }),
    ...(item === undefined ? {} : { item: isJsonObject(item) ? toItemText(item) : item }),
  } as JsonValue;
}

function toItemText(item: JsonValue): ItemText {
  const line = new TextEncoder().encode(`${canonicalJson(item)}\n`);
  return { line, sha256: createHash('sha256').update(line).digest('hex') };
}
