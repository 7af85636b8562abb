/** The media type of a file without a known extension (RFC 2046 section 4.5.1). */
export const DEFAULT_MIME_TYPE = 'application/octet-stream';

/** Media types by extension; the first extension of a type is the one that is written. */
const EXTENSIONS: readonly (readonly [mimeType: string, ...extensions: string[]])[] = [
  ['image/png', '.png'],
  ['image/jpeg', '.jpg', '.jpeg', '.jpe'],
  ['image/gif', '.gif'],
  ['image/webp', '.webp'],
  ['image/avif', '.avif'],
  ['image/heic', '.heic'],
  ['image/bmp', '.bmp'],
  ['image/tiff', '.tiff', '.tif'],
  ['image/svg+xml', '.svg'],
  ['image/vnd.microsoft.icon', '.ico'],
  ['audio/mpeg', '.mp3'],
  ['audio/wav', '.wav'],
  ['audio/flac', '.flac'],
  ['audio/ogg', '.ogg', '.oga', '.opus'],
  ['audio/mp4', '.m4a'],
  ['audio/aac', '.aac'],
  ['video/mp4', '.mp4', '.m4v'],
  ['video/webm', '.webm'],
  ['video/quicktime', '.mov'],
  ['video/x-msvideo', '.avi'],
  ['video/x-matroska', '.mkv'],
  ['application/pdf', '.pdf'],
  ['application/json', '.json'],
  ['application/jsonl', '.jsonl'],
  ['application/zip', '.zip'],
  ['application/gzip', '.gz'],
  ['application/xml', '.xml'],
  ['application/yaml', '.yaml', '.yml'],
  ['application/msword', '.doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', '.docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', '.pptx'],
  ['application/vnd.apache.parquet', '.parquet'],
  ['text/plain', '.txt', '.text', '.log'],
  ['text/markdown', '.md'],
  ['text/html', '.html', '.htm'],
  ['text/css', '.css'],
  ['text/csv', '.csv'],
  ['text/tab-separated-values', '.tsv'],
  ['text/javascript', '.js', '.mjs'],
  ['text/x-python', '.py'],
];

/** Other names of media types. */
const ALIASES: readonly (readonly [alias: string, extension: string])[] = [
  ['image/jpg', '.jpg'],
  ['image/x-icon', '.ico'],
  ['audio/mp3', '.mp3'],
  ['audio/x-wav', '.wav'],
  ['audio/wave', '.wav'],
  ['audio/x-flac', '.flac'],
  ['audio/x-m4a', '.m4a'],
  ['application/x-yaml', '.yaml'],
  ['application/x-gzip', '.gz'],
  ['application/javascript', '.js'],
  ['text/xml', '.xml'],
];

/** By the extension in any case; `application/octet-stream` if that is missing or unknown. */
export function mimeTypeForPath(path: string): string {
  const extension = /\.[^./\\]+$/.exec(path)?.[0].toLowerCase();
  if (extension === undefined) return DEFAULT_MIME_TYPE;
  return EXTENSIONS.find(([, ...extensions]) => extensions.includes(extension))?.[0] ?? DEFAULT_MIME_TYPE;
}

/** With its dot; empty if the type is not known, and for `application/octet-stream`, which says nothing. */
export function extensionForMimeType(mimeType: string): string {
  const essence = (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return (
    EXTENSIONS.find(([known]) => known === essence)?.[1] ??
    ALIASES.find(([alias]) => alias === essence)?.[1] ??
    ''
  );
}

/** First bytes of the known file types (WHATWG MIME Sniffing sections 6 and 7). -1 is any byte. */
const SIGNATURES: readonly (readonly [mimeType: string, bytes: readonly number[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x45, 0x42, 0x50]],
  ['image/bmp', [0x42, 0x4d]],
  ['image/tiff', [0x49, 0x49, 0x2a, 0x00]],
  ['image/tiff', [0x4d, 0x4d, 0x00, 0x2a]],
  ['image/vnd.microsoft.icon', [0x00, 0x00, 0x01, 0x00]],
  ['image/avif', [-1, -1, -1, -1, 0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69, 0x66]],
  ['image/heic', [-1, -1, -1, -1, 0x66, 0x74, 0x79, 0x70, 0x68, 0x65, 0x69, 0x63]],
  ['audio/wav', [0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x57, 0x41, 0x56, 0x45]],
  ['video/x-msvideo', [0x52, 0x49, 0x46, 0x46, -1, -1, -1, -1, 0x41, 0x56, 0x49, 0x20]],
  ['audio/flac', [0x66, 0x4c, 0x61, 0x43]],
  ['audio/ogg', [0x4f, 0x67, 0x67, 0x53]],
  ['audio/mpeg', [0x49, 0x44, 0x33]],
  ['audio/mpeg', [0xff, 0xfb]],
  ['audio/mp4', [-1, -1, -1, -1, 0x66, 0x74, 0x79, 0x70, 0x4d, 0x34, 0x41, 0x20]],
  ['video/mp4', [-1, -1, -1, -1, 0x66, 0x74, 0x79, 0x70]],
  ['video/webm', [0x1a, 0x45, 0xdf, 0xa3]],
  ['application/pdf', [0x25, 0x50, 0x44, 0x46, 0x2d]],
];

/** The media type that the first bytes of a file show, or null. Twelve bytes are enough. */
export function sniffMimeType(bytes: Uint8Array): string | null {
  for (const [mimeType, signature] of SIGNATURES) {
    if (signature.every((byte, index) => byte === -1 || bytes[index] === byte)) return mimeType;
  }
  return null;
}
