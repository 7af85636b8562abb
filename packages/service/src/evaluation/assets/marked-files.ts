import { randomBytes } from 'node:crypto';
import type { ItemParts } from '@svc/jsonl-v23';
import { filesOfPart, type LinkedFile, layoutPart } from '@svc/jsonl-v23/assets';

export type ReadFile = (file: LinkedFile, signal: AbortSignal) => AsyncIterable<Uint8Array>;

/** Files whose base64 text a request contains. They are read while it is sent; until then, marks stand for them. */
export interface MarkedFiles {
  /** How each mark begins: letters and digits that no item can contain, because they are new for each. */
  readonly mark: string;
  readonly files: readonly LinkedFile[];
  readonly read: ReadFile;
}

/** Writes the mark of each file in place of its content. @param read by default, the files must not be read */
export function markFiles(
  { payload, answer, assets, checker }: ItemParts,
  files: readonly LinkedFile[] = [],
  read: ReadFile = neverRead,
): { readonly parts: ItemParts; readonly files: MarkedFiles | undefined } {
  if (files.length === 0) return { parts: { payload, answer, assets, checker }, files: undefined };
  const mark = `file${randomBytes(16).toString('hex')}n`;
  const marked = (text: string | null, part: 'assets' | 'checker'): string | null =>
    text === null
      ? null
      : layoutPart(text, filesOfPart(files, part))
          .map((piece) => (typeof piece === 'string' ? piece : `${mark}${files.indexOf(piece)}z`))
          .join('');
  return {
    parts: { payload, answer, assets: marked(assets, 'assets'), checker: marked(checker, 'checker') },
    files: { mark, files, read },
  };
}

const neverRead = (): never => {
  throw new Error('The content of these files is not read.');
};

/** A text with marks, in pieces: text, and the files of the marks. */
export function splitAtMarks(text: string, { mark, files }: MarkedFiles): (string | LinkedFile)[] {
  const pieces: (string | LinkedFile)[] = [];
  const [first = '', ...others] = text.split(mark);
  pieces.push(first);
  for (const other of others) {
    const end = other.indexOf('z');
    const file = files[Number(other.slice(0, end))];
    if (file === undefined) throw new Error('A mark has no file.');
    pieces.push(file, other.slice(end + 1));
  }
  return pieces;
}
