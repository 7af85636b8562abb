import { ASCII } from '../json/ascii.ts';
import type { ItemRanges } from './item-ranges.ts';

const { QUOTE, COMMA, OPEN_BRACE, CLOSE_BRACE } = ASCII;

/** The stored parts of an item (see `EncodedItem`) as ranges of one buffer. A part that is absent starts at -1. */
export type PartRanges = Omit<ItemRanges, 'itemStart' | 'itemEnd' | 'typeStart' | 'typeEnd'>;

const keyOf = (key: string): Uint8Array => new TextEncoder().encode(`"${key}":`);
const KEYS = { answer: keyOf('answer'), assets: keyOf('assets'), checker: keyOf('checker') } as const;

/**
 * Joins the parts as `joinItem` does, as UTF-8 from `to` on, where there must be room for them and 32 bytes more.
 *
 * @returns the position after the text; -1 for a payload that begins with a key before the others, which `joinItem` has to
 *   take apart, and then nothing is written
 */
export function joinItemBytes(parts: PartRanges, target: Uint8Array, to: number): number {
  const { bytes, payloadStart, payloadEnd, answerStart, assetsStart, checkerStart } = parts;
  const isEmpty = payloadEnd - payloadStart === 2;
  const last =
    checkerStart !== -1
      ? KEYS.checker
      : assetsStart !== -1
        ? KEYS.assets
        : answerStart !== -1
          ? KEYS.answer
          : null;
  if (last === null) return put(target, to, bytes, payloadStart, payloadEnd);
  // Most payloads begin with "id" or "inputs", which sort after all added keys.
  const isLast =
    bytes[payloadStart + 1] === QUOTE && (bytes[payloadStart + 2] as number) > (last[1] as number);
  if (!isEmpty && !isLast) return -1;
  let at = to;
  target[at++] = OPEN_BRACE;
  if (answerStart !== -1) at = putMember(target, at, KEYS.answer, parts.bytes, answerStart, parts.answerEnd);
  if (assetsStart !== -1) at = putMember(target, at, KEYS.assets, parts.bytes, assetsStart, parts.assetsEnd);
  if (checkerStart !== -1)
    at = putMember(target, at, KEYS.checker, parts.bytes, checkerStart, parts.checkerEnd);
  if (isEmpty) at -= 1;
  else at = put(target, at, bytes, payloadStart + 1, payloadEnd - 1);
  target[at++] = CLOSE_BRACE;
  return at;
}

/** Writes a member and a comma. */
function putMember(
  target: Uint8Array,
  to: number,
  key: Uint8Array,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  let at = to;
  for (let index = 0; index < key.length; index += 1) target[at++] = key[index] as number;
  at = put(target, at, bytes, start, end);
  target[at++] = COMMA;
  return at;
}

/** Shorter ranges are copied faster by a loop than by a call. */
const SHORT_BYTES = 24;

function put(target: Uint8Array, to: number, bytes: Uint8Array, start: number, end: number): number {
  if (end - start > SHORT_BYTES) {
    target.set(bytes.subarray(start, end), to);
    return to + end - start;
  }
  let at = to;
  for (let from = start; from < end; from += 1) target[at++] = bytes[from] as number;
  return at;
}
