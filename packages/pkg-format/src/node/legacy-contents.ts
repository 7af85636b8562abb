import type { ItemParts, SourceLocation } from '@svc/jsonl-v23';
import { DEFAULT_MIME_TYPE, EmbeddedSize, mapEntries, sniffMimeType } from '@svc/jsonl-v23/assets';
import { compareUtf8, encodeBase64, sha256Hex } from '@svc/jsonl-v23/bytes';
import {
  canonicalByteLength,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
} from '@svc/jsonl-v23/json';
import type { Archive } from '../package/layout.ts';
import { contentPath } from '../write/choose-file-paths.ts';
import { type EmbeddedFile, externalizeAssets } from '../write/embedded-files.ts';
import type { NamedFile } from '../write/plan-package.ts';
import { fileKey, type PackedBytes } from '../write/scan-dataset.ts';
import type { TempContents } from './temp-dir.ts';

interface Content extends NamedFile {
  /** Position of a content in a temporary file. */
  readonly kept: PackedBytes | null;
  read(): AsyncIterable<Uint8Array>;
}

/** The members that an entry gets with its content, without its media type, which is counted with the whole item. */
const ADDED_BYTES = ',"data":"","encoding":"base64"'.length;

/** Each content once. Files of the archive are read again; inline content is in a temporary file. */
export class LegacyContents {
  readonly #archive: Archive;
  readonly #kept: TempContents;
  readonly #contents: Content[] = [];
  /** Paths of the contents by `fileKey`. */
  readonly #paths = new Map<string, string>();
  /** SHA-256 of the archive's checker files by path; these files keep their paths. */
  readonly #checkers = new Map<string, string>();
  /** Files of the archive that items embed now. */
  readonly used: Set<string> = new Set<string>();

  constructor(archive: Archive, kept: TempContents) {
    this.#archive = archive;
    this.#kept = kept;
  }

  async read(path: string): Promise<Uint8Array> {
    const isFirst = !this.used.has(path);
    this.used.add(path);
    const bytes = await this.#archive.readWhole(path);
    if (isFirst && path.startsWith('checkers/')) this.#checkers.set(path, sha256Hex(bytes));
    return bytes;
  }

  async embed(
    item: JsonObject,
    files: ReadonlyMap<string, string>,
    location: SourceLocation,
  ): Promise<JsonObject> {
    if (files.size === 0) return item;
    const { maxLineBytes: maxItemBytes } = this.#archive.limits;
    const size = new EmbeddedSize(canonicalByteLength(item), { maxItemBytes, location });
    const contents = new Map<string, Uint8Array>();
    for (const [pointer, path] of files) {
      const bytes = await this.read(path);
      size.add({ pointer, addedBytes: ADDED_BYTES }, bytes.byteLength);
      contents.set(pointer, bytes);
    }
    const texts = new Map<Uint8Array, string>();
    const assets = getMember(item, 'assets');
    const embedOne = (entry: JsonValue, name: string | number): JsonValue => {
      const bytes = contents.get(jsonPointer(['assets', name]));
      if (bytes === undefined || !isJsonObject(entry)) return entry;
      const data = texts.get(bytes) ?? encodeBase64(bytes);
      texts.set(bytes, data);
      return { mime_type: sniffMimeType(bytes) ?? DEFAULT_MIME_TYPE, ...entry, encoding: 'base64', data };
    };
    return { ...item, assets: mapEntries(assets as JsonValue, embedOne) };
  }

  /** The stored parts of an item with its content moved to files; keeps new inline content in the temporary file. */
  async externalize(parts: ItemParts, files: ReadonlyMap<string, string>): Promise<ItemParts> {
    const inline: { readonly file: NamedFile; readonly bytes: Uint8Array }[] = [];
    const pathFor = (found: EmbeddedFile): string => {
      const { folder, extension, ownPath, pointer, sha256, byteLength, bytes } = found;
      const key = fileKey(folder, sha256);
      const known = this.#paths.get(key);
      if (known !== undefined) return known;
      const isOwn = folder === 'checkers' && ownPath !== null && this.#checkers.get(ownPath) === sha256;
      const source = isOwn ? ownPath : files.get(pointer);
      const path = isOwn ? ownPath : contentPath({ folder, sha256, extension });
      const file = { path, bytes: byteLength, sha256 };
      if (source === undefined && bytes !== null) inline.push({ file, bytes });
      else if (source !== undefined)
        this.#contents.push({
          ...file,
          kept: null,
          read: () => this.#archive.read(source, { uncounted: true }),
        });
      this.#paths.set(key, path);
      return path;
    };
    const moved = externalizeAssets(parts, pathFor);
    for (const { file, bytes } of inline) {
      const kept = await this.#kept.add(bytes);
      this.#contents.push({ ...file, kept, read: kept.read });
    }
    return moved;
  }

  /** All contents, `assets/` before `checkers/`, in the order of the UTF-8 bytes of their paths. */
  list(): Content[] {
    return [...this.#contents].sort((a, b) => compareUtf8(a.path, b.path));
  }
}
