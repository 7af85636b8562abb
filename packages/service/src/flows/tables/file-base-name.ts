/** Characters that some file system refuses, or that a shell or a header would misread. */
const UNSAFE = /[\p{Cc}\p{Cs}<>:"/\\|?*]+/gu;
const MAX_LENGTH = 120;

/** The name of a dataset or run as a file name without extension, safe on every file system. */
export function fileBaseName(name: string, fallback: string): string {
  const safe = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .replace(/^[.\s]+|(?<![.\s])[.\s]+$/g, '');
  return [...safe].slice(0, MAX_LENGTH).join('') || fallback;
}
