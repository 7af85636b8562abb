import type { EncodedItemBytes } from '../src/item/encode-item.ts';
import { hex } from './arbitrary-json.ts';

/** Everything that an encoded item says, as text. */
export function showEncoded(encoded: EncodedItemBytes): Record<string, unknown> {
  const text = (start: number, end: number): string | null =>
    start === -1
      ? null
      : new TextDecoder('utf-8', { ignoreBOM: true }).decode(encoded.bytes.subarray(start, end));
  return {
    whole: text(encoded.itemStart, encoded.itemEnd),
    type: text(encoded.typeStart, encoded.typeEnd),
    payload: text(encoded.payloadStart, encoded.payloadEnd),
    answer: text(encoded.answerStart, encoded.answerEnd),
    checker: text(encoded.checkerStart, encoded.checkerEnd),
    assets: text(encoded.assetsStart, encoded.assetsEnd),
    assetCount: encoded.assetCount,
    hash: hex(encoded.itemHash),
  };
}

/** What work gives, or what it fails with: two ways to do the same must have the same outcome. */
export function outcomeOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    const { code, message, location } = error as { code: string; message: string; location: unknown };
    return { code, message, location };
  }
}
