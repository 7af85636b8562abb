import { compareUtf8, sha256Hex } from '@svc/jsonl-v23/internal';
import { foldName } from '../zip/entry-name.ts';

const MAX_NAME_BYTES = 200;

/**
 * The file names (with `.jsonl`) of sections in order.
 *
 * A name that is not safe on every file system is percent-encoded. If the files would then sort in another order than the
 * sections, or two of them would be one file on some system, the number of its section precedes each name. The manifest
 * keeps the original names.
 *
 * @example sectionFileNames(['a', 'b/c']) // ['a.jsonl', 'b%2Fc.jsonl']
 * @example sectionFileNames(['train', 'test']) // ['0-train.jsonl', '1-test.jsonl']
 */
export function sectionFileNames(names: readonly string[]): string[] {
  const plain = names.map((name) => `${safeFileName(name)}.jsonl`);
  const isInOrder = plain.every(
    (name, index) => index === 0 || compareUtf8(plain[index - 1] ?? '', name) < 0,
  );
  const isUnique = new Set(plain.map(foldName)).size === plain.length;
  if (isInOrder && isUnique) return plain;
  const digits = String(names.length - 1).length;
  return plain.map((name, index) => `${String(index).padStart(digits, '0')}-${name}`);
}

function safeFileName(name: string): string {
  // Composed and decomposed accents are one name on some systems, and "%" would read as an escape.
  let safe = '';
  for (const char of name.normalize('NFC') === name ? name : '')
    safe += isSafeChar(char) ? char : percentEncode(char);
  if (safe === '' && name !== '')
    safe = Array.from(name, (char) => (/[a-z0-9]/i.test(char) ? char : percentEncode(char))).join('');
  safe = safe.replace(/^[. -]|[. ]$/g, percentEncode);
  if (/^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i.test(safe))
    safe = percentEncode(safe.slice(0, 1)) + safe.slice(1);
  if (safe === '') safe = '%';
  return new TextEncoder().encode(safe).length > MAX_NAME_BYTES ? shortened(safe, name) : safe;
}

/** Whether a character is neither a control character nor special to Windows and shells. */
function isSafeChar(char: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*%]/u.test(char);
}

/** RFC 3986 section 2.1 over UTF-8; a lone surrogate has no UTF-8 and is written as `%uD800`. */
function percentEncode(char: string): string {
  if (!char.isWellFormed()) return `%u${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return Array.from(
    new TextEncoder().encode(char),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

function shortened(safe: string, name: string): string {
  let kept = '';
  const encoder = new TextEncoder();
  for (const char of safe) {
    if (encoder.encode(kept + char).length > MAX_NAME_BYTES - 20) break;
    kept += char;
  }
  return `${kept}~${sha256Hex(encoder.encode(name)).slice(0, 16)}`;
}
