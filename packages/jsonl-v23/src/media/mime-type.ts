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

/**
 * The media type of a file name, by its extension in any case; `application/octet-stream` if that is missing or
 * unknown.
 *
 * @example mimeTypeForPath('assets/Figure.PNG') // 'image/png'
 */
export function mimeTypeForPath(path: string): string {
  const extension = /\.[^./\\]+$/.exec(path)?.[0].toLowerCase();
  if (extension === undefined) return DEFAULT_MIME_TYPE;
  return EXTENSIONS.find(([, ...extensions]) => extensions.includes(extension))?.[0] ?? DEFAULT_MIME_TYPE;
}

/**
 * The file extension of a media type, with its dot; parameters and case do not matter. An empty string when
 * the type is not known, and for `application/octet-stream`, which says nothing.
 *
 * @example extensionForMimeType('image/jpeg') // '.jpg'
 */
export function extensionForMimeType(mimeType: string): string {
  const essence = (mimeType.split(';', 1)[0] ?? '').trim().toLowerCase();
  return (
    EXTENSIONS.find(([known]) => known === essence)?.[1] ??
    ALIASES.find(([alias]) => alias === essence)?.[1] ??
    ''
  );
}
