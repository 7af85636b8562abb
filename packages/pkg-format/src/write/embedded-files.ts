import { extensionForMimeType, type ItemParts, isEmbeddedChecker } from '@svc/jsonl-v23/internal';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  parseJson,
  setMember,
} from '@svc/jsonl-v23/json';
import { decodeBase64 } from '#byte-tools';

/** Content that an item embeds and that a package keeps as a file. */
export interface EmbeddedFile {
  folder: 'assets' | 'checkers';
  /** JSON Pointer of the entry in the item. */
  pointer: string;
  /** The entry's own `path`, whatever it is worth. */
  ownPath: string | null;
  /** For a path made from the content: by the entry's media type, with its dot, or empty. */
  extension: string;
  bytes: Uint8Array;
}

/** The same texts as long as depth was checked when they were stored. */
const STORED_DEPTH = 1000;

/** Whether an item embeds content at all; a text search that spares parsing the many items that do not. */
export function mayEmbedFiles({ assets, checker }: ItemParts): boolean {
  return (assets?.includes('"data":"') ?? false) || (checker?.includes('"data":"') ?? false);
}

/**
 * Moves the content that an item embeds into files: each entry loses `encoding` and `data` and gets the `path` that
 * `pathFor` says. Everything else of the item stays as it is stored. Reading the result back gives an item of the same
 * hash; an entry for which that could not be (base64 in another spelling, no media type) keeps its content.
 */
export function externalizeAssets(parts: ItemParts, pathFor: (file: EmbeddedFile) => string): ItemParts {
  if (!mayEmbedFiles(parts)) return parts;
  const assets = parts.assets?.includes('"data":"') ? moveAssetsOut(parts.assets, pathFor) : parts.assets;
  const checker = parts.checker?.includes('"data":"')
    ? moveCheckerOut(parts.checker, pathFor)
    : parts.checker;
  return { ...parts, assets, checker };
}

/** The one file that an item embeds at a JSON Pointer, or null. */
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

function moveAssetsOut(text: string, pathFor: (file: EmbeddedFile) => string): string {
  const assets = parseStored(text);
  const moved = (entry: JsonValue, name: string | number): JsonValue => {
    if (!isJsonObject(entry)) return entry;
    const mimeType = getMember(entry, 'mime_type');
    if (typeof mimeType !== 'string') return entry;
    return externalize(
      entry,
      'assets',
      jsonPointer(['assets', name]),
      extensionForMimeType(mimeType),
      pathFor,
    );
  };
  if (Array.isArray(assets)) return canonicalJson(assets.map(moved));
  if (!isJsonObject(assets)) return text;
  const result: JsonObject = {};
  for (const name of Object.keys(assets)) setMember(result, name, moved(assets[name]!, name));
  return canonicalJson(result);
}

function moveCheckerOut(text: string, pathFor: (file: EmbeddedFile) => string): string {
  const checker = parseStored(text);
  if (!isEmbeddedChecker(checker)) return text;
  const mimeType = getMember(checker, 'mime_type');
  const extension = typeof mimeType === 'string' ? extensionForMimeType(mimeType) : '';
  return canonicalJson(externalize(checker, 'checkers', '/checker', extension, pathFor));
}

function externalize(
  entry: JsonObject,
  folder: EmbeddedFile['folder'],
  pointer: string,
  extension: string,
  pathFor: (file: EmbeddedFile) => string,
): JsonObject {
  const bytes = contentOf(entry);
  if (bytes === null) return entry;
  const { encoding: _, data: __, ...rest } = entry;
  const path = getMember(entry, 'path');
  const ownPath = typeof path === 'string' ? path : null;
  return { ...rest, path: pathFor({ folder, pointer, ownPath, extension, bytes }) };
}

function contentOf(entry: JsonObject): Uint8Array | null {
  const data = getMember(entry, 'data');
  if (typeof data !== 'string' || getMember(entry, 'encoding') !== 'base64') return null;
  return decodeBase64(data);
}

function parseStored(text: string): JsonValue {
  return parseJson(text, { maxDepth: STORED_DEPTH });
}
