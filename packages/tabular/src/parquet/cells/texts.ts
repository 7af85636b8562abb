import { utf8Text } from '../../scalars/utf8-text.ts';
import { damaged } from '../parquet-error.ts';

/** Text of bytes in UTF-8. @throws ParquetError if they are none */
export function decodeText(value: Uint8Array): string {
  try {
    return utf8Text(value);
  } catch (cause) {
    throw damaged('a text is not UTF-8', cause);
  }
}

/** RFC 9562, the text of a UUID. @throws ParquetError if the bytes are not 16 */
export function uuidText(value: Uint8Array): string {
  if (value.length !== 16) throw damaged(`a UUID has ${value.length} bytes`);
  const hex = Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
