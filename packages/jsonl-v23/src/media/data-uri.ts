import { decodeBase64, encodeBase64 } from '#native';
import { readHex } from '../json/ascii.ts';

export interface DataUri {
  /** The media type with its parameters; type and subtype in lower case. */
  readonly mimeType: string;
  /** The content as base64 (RFC 4648 section 4, padded). */
  readonly data: string;
}

/** Whether a text begins like a data: URI; schemes are compared without case (RFC 3986 section 3.1). */
export function isDataUri(text: string): boolean {
  return /^data:/i.test(text);
}

/**
 * Reads a data: URI (RFC 2397, with the details of WHATWG Fetch, "data: URL processor"): base64 or
 * percent-encoded, `text/plain;charset=US-ASCII` if it has no type. Null if it has no comma or
 * invalid base64.
 *
 * @example parseDataUri('data:text/plain,hi') // { mimeType: 'text/plain', data: 'aGk=' }
 */
export function parseDataUri(uri: string): DataUri | null {
  const comma = uri.indexOf(',');
  if (!isDataUri(uri) || comma === -1) return null;
  let header = uri.slice('data:'.length, comma).trim();
  const body = percentDecode(uri.slice(comma + 1));

  const base64Mark = /; *base64$/i.exec(header);
  if (base64Mark === null) return { mimeType: mediaType(header), data: encodeBase64(body) };
  header = header.slice(0, base64Mark.index);
  const content = decodeBase64(new TextDecoder('latin1').decode(body));
  return content === null ? null : { mimeType: mediaType(header), data: encodeBase64(content) };
}

function mediaType(header: string): string {
  if (header === '') return 'text/plain;charset=US-ASCII';
  if (header.startsWith(';')) return `text/plain${header}`;
  const parametersAt = header.indexOf(';');
  const essence = parametersAt === -1 ? header : header.slice(0, parametersAt);
  return essence.toLowerCase() + header.slice(essence.length);
}

/** RFC 3986 section 2.1; a "%" without two hex digits is itself, other characters become UTF-8. */
function percentDecode(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  if (!text.includes('%')) return bytes;
  let to = 0;
  for (let from = 0; from < bytes.length; from++) {
    const escaped = bytes[from] === PERCENT ? readHex(bytes, from + 1, 2) : -1;
    bytes[to++] = escaped === -1 ? (bytes[from] as number) : escaped;
    if (escaped !== -1) from += 2;
  }
  return bytes.subarray(0, to);
}

const PERCENT = 37;
