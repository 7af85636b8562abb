import { contentDisposition } from './download.ts';

/** Media types that a browser shows without running anything, under {@link SAFE}, and how they are sent. */
const SHOWN: Readonly<Record<string, string>> = {
  'application/pdf': 'application/pdf',
  'audio/mp3': 'audio/mpeg',
  'audio/mp4': 'audio/mp4',
  'audio/mpeg': 'audio/mpeg',
  'audio/ogg': 'audio/ogg',
  'audio/vnd.wave': 'audio/wav',
  'audio/wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/webm': 'audio/webm',
  'audio/x-wav': 'audio/wav',
  'image/avif': 'image/avif',
  'image/gif': 'image/gif',
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/svg+xml': 'image/svg+xml',
  'image/webp': 'image/webp',
  'text/plain': 'text/plain; charset=utf-8',
  'video/mp4': 'video/mp4',
  'video/ogg': 'video/ogg',
  'video/webm': 'video/webm',
};

/** A page that shows the bytes runs no script of theirs, loads nothing for them, and gives them no origin. */
export const SAFE: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'none'; sandbox",
  'X-Content-Type-Options': 'nosniff',
};

/**
 * The type of bytes that users have uploaded, with the headers {@link SAFE}: those of a safe media type are shown as such, any other is a download.
 *
 * @param fileName of a download
 */
export function mediaHeaders(mediaType: string | null, fileName: string): Readonly<Record<string, string>> {
  const essence = mediaType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const shown = Object.hasOwn(SHOWN, essence) ? SHOWN[essence] : undefined;
  if (shown !== undefined) return { 'Content-Type': shown };
  return { 'Content-Type': 'application/octet-stream', 'Content-Disposition': contentDisposition(fileName) };
}
