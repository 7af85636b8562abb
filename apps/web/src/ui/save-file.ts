/** Characters that file systems refuse. */
const REFUSED = /[^\p{L}\p{N} ._()-]+/gu;

/** Saves a file that the page made. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(REFUSED, '_').slice(-120);
  link.click();
  // after the download has begun
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
