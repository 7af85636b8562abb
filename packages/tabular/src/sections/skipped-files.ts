import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { baseName, formatByName, lastSuffix } from '../files/file-format.ts';

/** A file of an archive or folder that is passed over. */
export interface SkippedFile {
  readonly name: string;
  /** The end of a sentence, such as `it is empty`. */
  readonly reason: string;
}

/** Files of archives and folders that are passed over. */
export interface SkippedFiles {
  /** The first hundred, in the byte order of their names. */
  readonly first: readonly SkippedFile[];
  readonly total: number;
}

const MAX_LISTED = 100;
/** Characters of a name; the names of an archive's entries have up to 65,535 bytes. */
const MAX_NAME_LENGTH = 256;

export function listSkipped(files: readonly SkippedFile[]): SkippedFiles {
  const sorted = files.toSorted((a, b) => compareUtf8(a.name, b.name));
  const first = sorted.slice(0, MAX_LISTED).map(({ name, reason }) => ({
    name: [...name.slice(0, 2 * MAX_NAME_LENGTH)].slice(0, MAX_NAME_LENGTH).join(''),
    reason,
  }));
  return { first, total: files.length };
}

/** What responses and `schema` say about files that are passed over: nothing if there are none. */
export function skippedFilesJson({ first, total }: SkippedFiles): JsonObject {
  if (total === 0) return {};
  const files = first.map(({ name, reason }) => ({ name, reason }));
  return { skipped_files: files, ...(total > files.length ? { skipped_files_total: total } : {}) };
}

/** Folders that tools and desktops make beside data. */
const TOOL_FOLDER = /^(?:__MACOSX|__pycache__|_delta_log|_spark_metadata|_temporary|node_modules)$/;
const DESKTOP = /^(?:thumbs\.db|ehthumbs\.db|desktop\.ini|icon\r)$/i;
/** Spark and Hive pass over such files, too. */
const MARK = /^_[^.]*$/;
const DOCUMENTATION =
  /^(?:readme|licen[cs]e|copying|notice|citation|contributing|changelog|authors)(?:[._-].*)?$/i;
/** JSON that describes data or configures a program, and may have arrays of objects as tables do. */
const CONFIGURATION =
  /^(?:dataset_infos?|dataset_dict|datapackage|croissant|(?:trainer_)?state|(?:[a-z]+_)?config|settings|tokenizer|vocab|special_tokens_map|package(?:-lock)?|tsconfig|composer)\.json$/i;

const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'it is a program':
      'bat c cc cjs class cmd cpp cs css dll exe f90 go h hpp ipynb java jl js jsx kt lua m mjs php pl ps1 py pyc pyi r rb rmd rs scala sh so sql swift ts tsx zsh bash vbs',
    'it is configuration': 'cfg cmake conf dvc env ini lock properties toml yaml yml',
    'it is a document': 'bib css doc docx htm html md markdown odt pdf ppt pptx rst rtf tex xhtml xml xsd',
    'it is an image, a sound or a video':
      'avi bmp flac gif heic ico jpeg jpg m4a mkv mov mp3 mp4 mpeg ogg opus png svg tif tiff wav webm webp wmv',
    'it is a checksum or a signature': 'asc crc md5 sha1 sha256 sha512 sig',
  }).flatMap(([reason, names]) => names.split(' ').map((suffix) => [suffix, reason] as const)),
);

/** Why a file of an archive or folder is passed over by its name alone; null if its content decides. */
export function skippedByName(path: string): string | null {
  const folders = path.split('/').slice(0, -1);
  const name = baseName(path);
  if (name.startsWith('.') || folders.some((folder) => folder.startsWith('.'))) return 'it is hidden';
  if (folders.some((folder) => TOOL_FOLDER.test(folder))) return 'it is in the folder of a tool';
  if (DESKTOP.test(name)) return 'it is a file of the desktop';
  if (MARK.test(name)) return 'it is a mark of the tool that wrote the data';
  if (CONFIGURATION.test(name)) return 'it is configuration';
  const format = formatByName(path);
  if (DOCUMENTATION.test(name) && (format === undefined || format === 'text' || format === 'json'))
    return 'it is documentation';
  return KINDS.get(lastSuffix(path)) ?? null;
}
