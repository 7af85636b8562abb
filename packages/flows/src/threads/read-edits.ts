import { createHash } from 'node:crypto';
import { JsonlError } from '@svc/jsonl-v23';
import { canonicalJson, isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/** A body with edits, to read on any thread. */
export interface EditsBody {
  /** JSON in UTF-8. */
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
 * @throws JsonlError as `parseJson`; `invalid_utf8`
 */
export function readEdits({ bytes, maxDepth }: EditsBody): JsonValue {
  const body = parseJson(decode(bytes), { maxDepth });
  if (!isJsonObject(body) || !Array.isArray(body['edits'])) return body;
  return { ...body, edits: body['edits'].map(readEdit) };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new JsonlError('invalid_utf8', 'The body must be valid UTF-8', {}, { cause: error });
  }
}

/** The buffers of the items of a body that `readEdits` read. */
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
