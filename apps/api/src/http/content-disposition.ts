import { create } from 'content-disposition';

/** A header that names the file of a download (RFC 6266): ASCII for old clients, the exact name in UTF-8. */
export function contentDisposition(fileName: string): string {
  const ascii = fileName
    .normalize('NFKD')
    .replaceAll(/[^\x20-\x7e]/g, '')
    .replaceAll(/["\\%]/g, '_');
  return create(fileName, { fallback: ascii });
}
