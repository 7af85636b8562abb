import { type ItemParts, layoutItem } from './join-item.ts';

/**
 * A file that an item embeds, and whose content is kept elsewhere. In the texts of the item, the entry has `sha256` and
 * `byte_length` in place of `encoding` and `data`. An entry may have such members by itself: only the item's list of
 * linked files says which entries are links.
 */
export interface LinkedFile {
  /** JSON Pointer of the entry in the item: `/assets/...` or `/checker`. */
  readonly pointer: string;
  /** Where the entry starts and ends in the text of its part, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
  /** The canonical text of the entry with its content embedded: this, the content in base64, and `after`. */
  readonly before: string;
  readonly after: string;
  /** SHA-256 of the content, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Bytes of the content. */
  readonly byteLength: number;
}

/** The stored parts of an item, and the files that `assets` and `checker` lack, in the order of the item's text. */
export interface LinkedParts extends ItemParts {
  readonly linkedFiles: readonly LinkedFile[];
}

/** Whether a file belongs to the item's checker, else to its assets. */
export function isCheckerFile({ pointer }: Pick<LinkedFile, 'pointer'>): boolean {
  return pointer === '/checker';
}

/**
 * The canonical text of an item in pieces: texts, and files, which represent the base64 text of their content.
 *
 * @throws JsonlError `invalid_json` if the payload cannot be the text of an object
 */
export function layoutLinkedItem(parts: LinkedParts): (string | LinkedFile)[] {
  const pieces: (string | LinkedFile)[] = [];
  for (const piece of layoutItem(parts)) {
    if (piece.part === null) pieces.push(piece.text);
    else pieces.push(...layoutPart(piece.text, filesOfPart(parts.linkedFiles, piece.part)));
  }
  return pieces;
}

/** One part of an item in pieces, as {@link layoutLinkedItem}. @param files of the part */
export function layoutPart(text: string, files: readonly LinkedFile[]): (string | LinkedFile)[] {
  const pieces: (string | LinkedFile)[] = [];
  let at = 0;
  for (const file of files) {
    pieces.push(text.slice(at, file.start) + file.before, file, file.after);
    at = file.end;
  }
  pieces.push(text.slice(at));
  return pieces;
}

/** The text of a part with other texts for its linked entries. @param files of the part */
export function replaceLinked(
  text: string,
  files: readonly LinkedFile[],
  replace: (file: LinkedFile) => string,
): string {
  let result = '';
  let at = 0;
  for (const file of files) {
    result += text.slice(at, file.start) + replace(file);
    at = file.end;
  }
  return result + text.slice(at);
}

/** The linked files of one part. */
export function filesOfPart(files: readonly LinkedFile[], part: 'assets' | 'checker'): LinkedFile[] {
  return files.filter((file) => isCheckerFile(file) === (part === 'checker'));
}
