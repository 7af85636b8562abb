import { HASH_SPEC } from '@svc/jsonl-v23';
import { DEFAULT_MIME_TYPE, mimeTypeForPath } from '@svc/jsonl-v23/assets';
import { compareUtf8, sha256Hex, toHex } from '@svc/jsonl-v23/bytes';
import { canonicalJson, type JsonObject } from '@svc/jsonl-v23/json';
import {
  BAR_FILE,
  BASELINE_RESULTS_FILE,
  BASELINE_RUN_FILE,
  generatorMembers,
  MANIFEST_FILE,
  META_FILE,
  PACKAGE_FORMAT,
  PACKAGE_FORMAT_VERSION,
  type PackageGenerator,
  RESULTS_FILE,
  RUN_CONFIG_FILE,
  SECTIONS_FOLDER,
} from '../package/layout.ts';
import { foldName } from '../zip/read-directory.ts';
import type { ExportDataset } from './export-dataset.ts';
import type { FileDigest } from './scan-dataset.ts';

export interface NamedFile extends FileDigest {
  readonly path: string;
}

/** The content of a package, with the size and checksum of all that is not in memory. */
export interface PackageContent
  extends Pick<ExportDataset, 'name' | 'description' | 'notes' | 'schema' | 'versionHash'> {
  /** The program that writes it; by default this library. */
  readonly generator: PackageGenerator | undefined;
  readonly sections: readonly {
    name: string;
    itemCount: number;
    sectionHash: Uint8Array;
    file: FileDigest;
  }[];
  /** `assets/` before `checkers/`, each in the order of the UTF-8 bytes of its path; then other files. */
  readonly files: readonly NamedFile[];
  readonly run: RunContent | null;
}

/** The parts of a run; null leaves the file or member out. */
export interface RunContent {
  /** JSON text of `run_config.json`, without secrets. */
  readonly config: string | null;
  readonly results: FileDigest | null;
  /** Canonical text of `bar.json`. */
  readonly bar?: string | null;
  /** JSON text of `baseline/run.json`, and its records. */
  readonly baseline?: { readonly run: string; readonly results: FileDigest } | null;
  /** The member `run` of the manifest and of `meta.json`. */
  readonly manifest: JsonObject | null;
  readonly meta: JsonObject | null;
}

/** One entry of a package: a text, or a file that is read later. */
export interface PlannedEntry {
  readonly path: string;
  /** False for compressed media, which are stored. */
  readonly compress: boolean;
  /** `pieces` are a text that is too long to be kept; `digest` is null for a file that is copied from a checked archive. */
  readonly content:
    | { readonly text: string }
    | { readonly pieces: () => Iterable<string> }
    | { readonly digest: FileDigest | null };
}

/** Plans the entries of a package in their order (package-format section 3). Each one is made when it is asked for. */
export function planPackage(content: PackageContent): Iterable<PlannedEntry> {
  const { run } = content;
  const first = [textEntry(META_FILE, metaText(content))];
  if (run?.config != null) first.push(textEntry(RUN_CONFIG_FILE, run.config));
  if (run?.bar != null) first.push(textEntry(BAR_FILE, `${run.bar}\n`));
  if (run?.results) first.push(fileEntry(RESULTS_FILE, run.results));
  if (run?.baseline) {
    first.push(textEntry(BASELINE_RUN_FILE, run.baseline.run));
    first.push(fileEntry(BASELINE_RESULTS_FILE, run.baseline.results));
  }
  const paths = sectionPaths(content.sections.map(({ name }) => name));
  for (const [index, { file }] of content.sections.entries()) {
    first.push(fileEntry(paths[index] ?? '', file));
  }
  const pieces = (): Iterable<string> => manifestPieces(content, paths, first);
  return {
    *[Symbol.iterator]() {
      yield { path: MANIFEST_FILE, compress: true, content: { pieces } };
      yield* first;
      for (const file of content.files) yield fileEntry(file.path, file);
    },
  };
}

export function sectionPaths(names: readonly string[]): string[] {
  return sectionFileNames(names).map((fileName) => `${SECTIONS_FOLDER}${fileName}`);
}

export function textEntry(path: string, text: string): PlannedEntry {
  return { path, compress: true, content: { text } };
}

/** An entry whose bytes are read when it is written. */
export function fileEntry(path: string, digest: FileDigest | null): PlannedEntry {
  return { path, compress: !isCompressed(path), content: { digest } };
}

function metaText({ description, notes, schema, run }: PackageContent): string {
  // The schema is text, which keeps every digit.
  const members = [`"description":${canonicalJson(description)}`, `"notes":${canonicalJson(notes)}`];
  if (run?.meta) members.push(`"run":${canonicalJson(run.meta)}`);
  members.push(`"schema":${schema}`);
  return `{${members.join(',')}}\n`;
}

/** The canonical text of the manifest. Its first member, the list of files, may be long. */
function* manifestPieces(
  content: PackageContent,
  paths: readonly string[],
  first: readonly PlannedEntry[],
): Generator<string> {
  const sections = content.sections.map((section, index) => ({ ...section, file: paths[index] ?? '' }));
  const others = manifestMembers({ ...content, sections });
  if (content.run?.manifest) others['run'] = content.run.manifest;
  let start = '{"files":[';
  for (const { path, content } of first) {
    const digest = 'text' in content ? textDigest(content.text) : 'digest' in content ? content.digest : null;
    if (digest === null) throw new TypeError(`The digest of ${path} is unknown.`);
    yield start + fileText({ path, ...digest });
    start = ',';
  }
  for (const file of content.files) yield start + fileText(file);
  yield `],${canonicalJson(others).slice(1)}\n`;
}

/** What a manifest says of a dataset besides its files and its run. */
export function manifestMembers({
  generator,
  name,
  versionHash,
  sections,
}: Pick<PackageContent, 'generator' | 'name'> & {
  readonly versionHash: string | null;
  readonly sections: readonly { name: string; file: string; itemCount: number; sectionHash: Uint8Array }[];
}): JsonObject {
  return {
    format: PACKAGE_FORMAT,
    format_version: PACKAGE_FORMAT_VERSION,
    ...generatorMembers(generator),
    name,
    version_hash: versionHash,
    hash_spec: HASH_SPEC,
    sections: sections.map(({ name, file, itemCount, sectionHash }, index) => ({
      name,
      file,
      order_index: index,
      item_count: itemCount,
      section_hash: toHex(sectionHash),
    })),
  };
}

const fileText = ({ path, bytes, sha256 }: NamedFile): string => canonicalJson({ path, bytes, sha256 });

function textDigest(text: string): FileDigest {
  const bytes = new TextEncoder().encode(text);
  return { bytes: bytes.byteLength, sha256: sha256Hex(bytes) };
}

function isCompressed(path: string): boolean {
  const type = mimeTypeForPath(path);
  if (type === DEFAULT_MIME_TYPE) return false;
  return (
    (/^(?:image|audio|video)\//.test(type) && !UNCOMPRESSED_MEDIA.test(type)) ||
    /^application\/(?:zip|gzip|vnd\.openxmlformats-|vnd\.apache\.parquet)/.test(type)
  );
}

const UNCOMPRESSED_MEDIA = /^(?:image\/(?:svg\+xml|bmp|tiff|vnd\.microsoft\.icon)|audio\/wav)$/;

const MAX_NAME_BYTES = 200;

/**
 * The file names (with `.jsonl`) of sections in order.
 *
 * A name that is not safe on every file system is percent-encoded. If the files would then sort in another order than the
 * sections, or two of them would be one file on some system, the number of its section precedes each name. The manifest
 * keeps the original names.
 *
 * @example sectionFileNames(['a', 'b/c']) // ['a.jsonl', 'b%2Fc.jsonl']
 * @example sectionFileNames(['train', 'test']) // ['0-train.jsonl', '1-test.jsonl']
 */
export function sectionFileNames(names: readonly string[]): string[] {
  const plain = names.map((name) => `${safeFileName(name)}.jsonl`);
  const isInOrder = plain.every(
    (name, index) => index === 0 || compareUtf8(plain[index - 1] ?? '', name) < 0,
  );
  const isUnique = new Set(plain.map(foldName)).size === plain.length;
  if (isInOrder && isUnique) return plain;
  const digits = String(names.length - 1).length;
  return plain.map((name, index) => `${String(index).padStart(digits, '0')}-${name}`);
}

function safeFileName(name: string): string {
  // Composed and decomposed accents are one name on some systems, and "%" would read as an escape.
  let safe = '';
  for (const char of name.normalize('NFC') === name ? name : '')
    safe += isSafeChar(char) ? char : percentEncode(char);
  if (safe === '' && name !== '')
    safe = Array.from(name, (char) => (/[a-z0-9]/i.test(char) ? char : percentEncode(char))).join('');
  safe = safe.replace(/^[. -]|[. ]$/g, percentEncode);
  if (/^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i.test(safe))
    safe = percentEncode(safe.slice(0, 1)) + safe.slice(1);
  if (safe === '') safe = '%';
  return new TextEncoder().encode(safe).length > MAX_NAME_BYTES ? shortened(safe, name) : safe;
}

/** Whether a character is neither a control character nor special to Windows and shells. */
function isSafeChar(char: string): boolean {
  return !/[\p{C}\p{Zl}\p{Zp}<>:"/\\|?*%]/u.test(char);
}

/** RFC 3986 section 2.1 over UTF-8; a lone surrogate has no UTF-8 and is written as `%uD800`. */
function percentEncode(char: string): string {
  if (!char.isWellFormed()) return `%u${char.charCodeAt(0).toString(16).toUpperCase()}`;
  return Array.from(
    new TextEncoder().encode(char),
    (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  ).join('');
}

function shortened(safe: string, name: string): string {
  let kept = '';
  const encoder = new TextEncoder();
  for (const char of safe) {
    if (encoder.encode(kept + char).length > MAX_NAME_BYTES - 20) break;
    kept += char;
  }
  return `${kept}~${sha256Hex(encoder.encode(name)).slice(0, 16)}`;
}
