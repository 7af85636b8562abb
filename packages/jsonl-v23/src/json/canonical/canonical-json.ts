import type { JsonInput } from '../json-value.ts';
import { CanonicalWriter } from './canonical-writer.ts';

let spareWriter: CanonicalWriter | null = null;

/**
 * The canonical text of a value: RFC 8785 (JCS), with numbers as `canonicalNumber` writes them.
 *
 * - no white space (section 3.2.1), members sorted by the UTF-16 code units of their names (3.2.3);
 * - strings as 3.2.2.2; a lone surrogate, which RFC 8785 does not cover, is written as its lower-case `\udxxx` escape, so
 *   that the text is always well-formed and has one UTF-8 form;
 * - a `bigint` is written as the integer literal it is.
 *
 * @throws JsonlError `invalid_json` with the JSON Pointer of a value that JSON cannot hold: NaN, infinities, undefined,
 * functions, and instances of classes such as `Date` and `Map`; `nesting_too_deep` beyond 1,024 levels
 *
 * @example canonicalJson({ b: 1.0, a: [true, null] }) // '{"a":[true,null],"b":1}'
 */
export function canonicalJson(value: JsonInput): string {
  // The writer is kept for its buffer. A getter in `value` could call this function again, so that the
  // writer must not be shared while it is in use.
  const writer = spareWriter ?? new CanonicalWriter();
  spareWriter = null;
  try {
    writer.write(value);
    return writer.text(0, writer.length);
  } finally {
    writer.clear();
    spareWriter = writer;
  }
}
