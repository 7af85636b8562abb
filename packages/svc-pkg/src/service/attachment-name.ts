/**
 * The file name that a `Content-Disposition` header proposes (RFC 6266), fit to be one: no folder, no control
 * character, nothing hidden, nothing that a program takes for an option. Null where it proposes none.
 *
 * @example attachmentName(`attachment; filename="a.zip"; filename*=UTF-8''%C3%A4.zip`) // 'ä.zip'
 */
export function attachmentName(header: string | undefined): string | null {
  if (header === undefined) return null;
  const name = extendedName(header) ?? quotedName(header);
  return name === null ? null : safeFileName(name);
}

/** `filename*` (RFC 8187), in UTF-8; it goes before `filename`. Null if it is absent or invalid. */
function extendedName(header: string): string | null {
  const [, encoded] = /(?:^|;)\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]*)/i.exec(header) ?? [];
  try {
    return encoded === undefined ? null : decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** `filename`, as a quoted string or a token. */
function quotedName(header: string): string | null {
  const [, quoted, token] = /(?:^|;)\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s"]+))/i.exec(header) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? token ?? null;
}

/** The last part of a path, if a file can bear it. */
function safeFileName(name: string): string | null {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const safe = last
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}:*?"<>|]/gu, '_')
    .replace(/^[-.\s]+/, '')
    .trim();
  // Most file systems allow 255 bytes.
  return safe === '' || Buffer.byteLength(safe) > 255 ? null : safe;
}
