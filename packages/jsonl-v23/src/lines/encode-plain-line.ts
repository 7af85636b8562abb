import { sha256 } from '#sha256';
import { FastItemEncoder } from '../fast/fast-item-encoder.ts';
import { itemRuleWithout, type RefusedKeys } from '../fast/item-rule.ts';

/** An item without files, in canonical text. */
export interface PlainLine {
  readonly text: string;
  readonly byteLength: number;
  /** 32 bytes. */
  readonly itemHash: Uint8Array;
}

/**
 * Makes an encoder of single lines: null for each that the fast path leaves to the reference path, such as a faulty one,
 * or that has one of the refused keys.
 */
export function createPlainLineEncoder(
  refused: RefusedKeys,
): (line: Uint8Array, maxDepth: number) => PlainLine | null {
  const encoder = new FastItemEncoder(itemRuleWithout(refused));
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  return (line, maxDepth) => {
    encoder.load(line, maxDepth);
    const { fallback, bytes, itemStart, itemEnd, lineEnd } = encoder.encode(0);
    if (fallback || lineEnd < line.byteLength) return null;
    const item = bytes.subarray(itemStart, itemEnd);
    return { text: decoder.decode(item), byteLength: itemEnd - itemStart, itemHash: sha256(item) };
  };
}
