import type { ItemParts } from '@svc/jsonl-v23';
import {
  extensionForMimeType,
  filesOfPart,
  isCheckerFile,
  isEmbeddedChecker,
  type LinkedFile,
  mapEntries,
  replaceLinked,
} from '@svc/jsonl-v23/assets';
import { decodeBase64, isBase64, sha256Hex } from '@svc/jsonl-v23/bytes';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  parseJson,
} from '@svc/jsonl-v23/json';
import type { ExportItem } from './export-dataset.ts';

export interface EmbeddedFile {
  readonly folder: 'assets' | 'checkers';
  /** JSON Pointer of the entry in the item. */
  readonly pointer: string;
  /** The `path` of the entry, not checked. */
  readonly ownPath: string | null;
  /** The extension of the entry's media type, with its dot, or empty; for a path made from the content. */
  readonly extension: string;
  /** SHA-256 of its bytes, lower-case hex. */
  readonly sha256: string;
  readonly byteLength: number;
  /** Null for a file that the item links. */
  readonly bytes: Uint8Array | null;
}

/** An item may have been stored with another limit, so this is the highest of the service (`SVC_MAX_JSON_DEPTH`). */
const MAX_STORED_DEPTH = 1000;

/** Whether an item may embed content. A text search, so that most items need not be parsed. */
export function mayEmbedFiles({ assets, checker }: ItemParts): boolean {
  return (assets?.includes('"data":"') ?? false) || (checker?.includes('"data":"') ?? false);
}

/**
 * Moves the content that an item embeds to files: replaces `encoding` and `data` of each entry by the `path` that
 * `pathFor` returns. Reading the result gives an item with the same hash; an entry for which that is impossible (base64 in
 * another spelling, no media type) keeps its content.
 */
export function externalizeAssets(parts: ExportItem, pathFor: (file: EmbeddedFile) => string): ItemParts {
  const { linkedFiles = [] } = parts;
  if (linkedFiles.length > 0) return moveLinkedOut(parts, linkedFiles, pathFor);
  if (!mayEmbedFiles(parts)) return parts;
  const assets = parts.assets?.includes('"data":"') ? moveAssetsOut(parts.assets, pathFor) : parts.assets;
  const checker = parts.checker?.includes('"data":"')
    ? moveCheckerOut(parts.checker, pathFor)
    : parts.checker;
  return { ...parts, assets, checker };
}

/** The content that an item embeds at a JSON Pointer, or null. */
export function embeddedFileAt(parts: ItemParts, pointer: string): Uint8Array | null {
  if (pointer === '/checker') {
    const checker = parts.checker === null ? null : parseStored(parts.checker);
    return isEmbeddedChecker(checker ?? undefined) ? contentOf(checker as JsonObject) : null;
  }
  const assets = parts.assets === null ? null : parseStored(parts.assets);
  if (typeof assets !== 'object' || assets === null) return null;
  const name = Object.keys(assets).find((key) => jsonPointer(['assets', key]) === pointer);
  const entry = name === undefined ? undefined : (assets as JsonObject)[name];
  return isJsonObject(entry) ? contentOf(entry) : null;
}

/** An item either embeds its files or links all of them. */
function moveLinkedOut(
  parts: ItemParts,
  linkedFiles: readonly LinkedFile[],
  pathFor: (file: EmbeddedFile) => string,
): ItemParts {
  const moved = (file: LinkedFile): string => {
    // The content is left out of the text, so the entry has none.
    const entry = parseStored(file.before + file.after) as JsonObject;
    const { pointer, sha256, byteLength } = file;
    const folder = isCheckerFile(file) ? 'checkers' : 'assets';
    return canonicalJson(moveOut(entry, folder, pointer, { sha256, byteLength, bytes: null }, pathFor));
  };
  const { payload, answer, assets, checker } = parts;
  return {
    ...{ payload, answer },
    assets: assets && replaceLinked(assets, filesOfPart(linkedFiles, 'assets'), moved),
    checker: checker && replaceLinked(checker, filesOfPart(linkedFiles, 'checker'), moved),
  };
}

function moveAssetsOut(text: string, pathFor: (file: EmbeddedFile) => string): string {
  const moved = (entry: JsonValue, name: string | number): JsonValue => {
    if (!isJsonObject(entry) || typeof getMember(entry, 'mime_type') !== 'string') return entry;
    return externalize(entry, 'assets', jsonPointer(['assets', name]), pathFor);
  };
  return canonicalJson(mapEntries(parseStored(text), moved));
}

function moveCheckerOut(text: string, pathFor: (file: EmbeddedFile) => string): string {
  const checker = parseStored(text);
  if (!isEmbeddedChecker(checker)) return text;
  return canonicalJson(externalize(checker, 'checkers', '/checker', pathFor));
}

function externalize(
  entry: JsonObject,
  folder: EmbeddedFile['folder'],
  pointer: string,
  pathFor: (file: EmbeddedFile) => string,
): JsonObject {
  const bytes = contentOf(entry);
  if (bytes === null) return entry;
  const { byteLength } = bytes;
  return moveOut(entry, folder, pointer, { sha256: sha256Hex(bytes), byteLength, bytes }, pathFor);
}

function moveOut(
  entry: JsonObject,
  folder: EmbeddedFile['folder'],
  pointer: string,
  content: Pick<EmbeddedFile, 'sha256' | 'byteLength' | 'bytes'>,
  pathFor: (file: EmbeddedFile) => string,
): JsonObject {
  const { encoding: _, data: __, ...rest } = entry;
  const [mimeType, path] = [getMember(rest, 'mime_type'), getMember(rest, 'path')];
  const extension = typeof mimeType === 'string' ? extensionForMimeType(mimeType) : '';
  const ownPath = typeof path === 'string' ? path : null;
  return { ...rest, path: pathFor({ folder, pointer, ownPath, extension, ...content }) };
}

function contentOf(entry: JsonObject): Uint8Array | null {
  const data = getMember(entry, 'data');
  // In another spelling, the file would not become this text again.
  const isExact = typeof data === 'string' && getMember(entry, 'encoding') === 'base64' && isBase64(data);
  return isExact ? decodeBase64(data) : null;
}

function parseStored(text: string): JsonValue {
  return parseJson(text, { maxDepth: MAX_STORED_DEPTH });
}
