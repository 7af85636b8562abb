import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import {
  DEFAULT_MIME_TYPE,
  isDataUri,
  mapEntries,
  mimeTypeForPath,
  parseDataUri,
  sniffMimeType,
} from '@svc/jsonl-v23/assets';
import { decodeBase64, encodeBase64 } from '@svc/jsonl-v23/bytes';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  setMember,
} from '@svc/jsonl-v23/json';
import { ErrorList, PackageError, quote, toPackageError } from '../errors.ts';
import { decodeUtf8 } from '../zip/byte-source.ts';

/** The location of an entry; `path` is its JSON Pointer. */
type EntryLocation = SourceLocation & { path: string };

export interface AssetUpgrade {
  readonly assets: JsonValue;
  /** The kind of each content that became a file: `assets (inline)`, `assets (file)`. */
  readonly moved: string[];
  /** Files of the archive to embed, by the JSON Pointer of their entry. */
  readonly files: Map<string, string>;
}

/** The member for old values that the new entry has no member for. */
const LEGACY = 'legacy';
const CONTENT_KEYS = ['data', 'base64', 'content'] as const;
const TYPE_KEYS = ['mime_type', 'content_type', 'mime', 'media_type'] as const;
/** Members that have a new meaning, or are not allowed next to content. */
const MOVING_KEYS = ['path', 'content_type', 'encoding'];
const REFERENCE_KEYS = ['path', 'file', 'src', 'href', 'url', 'uri', 'filename'] as const;

/** Converts the assets of a legacy item to JSONL v2.3; `legacy` keeps the path and a second media type of an entry. */
export function upgradeAssets(
  assets: JsonValue,
  resolveFile: (reference: string) => string | null,
  location: SourceLocation,
): AssetUpgrade {
  const moved: string[] = [];
  const files = new Map<string, string>();
  const errors = new ErrorList();
  const entryOf = (value: JsonValue, name: string | number): JsonValue => {
    const entryLocation = { ...location, path: jsonPointer(['assets', name]) };
    try {
      return upgradeEntry(value, name, entryLocation, resolveFile, { moved, files });
    } catch (error) {
      errors.add(toPackageError(error, location.file ?? ''));
      return value;
    }
  };
  const upgraded = typeof assets === 'string' ? [entryOf(assets, 0)] : mapEntries(assets, entryOf);
  errors.throwIfAny();
  return { assets: upgraded, moved, files };
}

function upgradeEntry(
  value: JsonValue,
  name: string | number,
  location: EntryLocation,
  resolveFile: (reference: string) => string | null,
  upgrade: Pick<AssetUpgrade, 'moved' | 'files'>,
): JsonValue {
  const entry = typeof value === 'string' ? entryOfText(value) : value;
  if (!isJsonObject(entry)) return value;
  const inline = inlineContent(entry, location);
  if (inline) {
    upgrade.moved.push('assets (inline)');
    const { bytes, mimeType, usedKeys } = inline;
    const type =
      mimeType ?? statedType(entry) ?? typeOfName(entry, name) ?? sniffMimeType(bytes) ?? DEFAULT_MIME_TYPE;
    return { ...renewed(entry, type, usedKeys), encoding: 'base64', data: encodeBase64(bytes) };
  }
  const file = referencedFile(entry, (key) => memberLocation(location, value, key), resolveFile);
  if (file === null) return renewed(entry, statedType(entry), []);
  upgrade.moved.push('assets (file)');
  upgrade.files.set(location.path, file);
  return renewed(entry, statedType(entry) ?? knownType(file), []);
}

/** The location of a member of an entry; an entry in the short form has no members. */
function memberLocation(location: EntryLocation, entry: JsonValue, key: string): EntryLocation {
  return typeof entry === 'string' ? location : { ...location, path: `${location.path}/${key}` };
}

/** The short forms: a data: URI, a link, or else a file of the archive. */
function entryOfText(text: string): JsonObject {
  return isDataUri(text) || /^https?:\/\//i.test(text) ? { url: text } : { path: text };
}

/** An entry with a new media type, without the used members; `legacy` keeps its path and other media types. */
function renewed(entry: JsonObject, mimeType: string | null, usedKeys: readonly string[]): JsonObject {
  const result: JsonObject = {};
  const legacy: JsonObject = {};
  for (const [key, value] of Object.entries(entry)) {
    if (usedKeys.includes(key) || key === 'mime_type') continue;
    if (key === 'encoding' && value === 'base64' && usedKeys.length > 0) continue;
    if ((TYPE_KEYS as readonly string[]).includes(key) && value === mimeType) continue;
    if (MOVING_KEYS.includes(key) || value === null) setMember(legacy, key, value);
    else setMember(result, key, value);
  }
  if (entry['mime_type'] !== undefined && entry['mime_type'] !== mimeType)
    legacy['mime_type'] = entry['mime_type'];
  if (mimeType !== null) result['mime_type'] = mimeType;
  if (Object.keys(legacy).length > 0) {
    const present = getMember(result, LEGACY);
    if (present === undefined) result[LEGACY] = legacy;
    else if (isJsonObject(present)) result[LEGACY] = { ...legacy, ...present };
    else result[LEGACY] = { ...legacy, value: present };
  }
  return result;
}

function statedType(entry: JsonObject): string | null {
  for (const key of TYPE_KEYS) {
    const value = getMember(entry, key);
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

function typeOfName(entry: JsonObject, name: string | number): string | null {
  for (const candidate of [...REFERENCE_KEYS, 'name']
    .map((key) => getMember(entry, key))
    .concat(String(name))) {
    const type = typeof candidate === 'string' ? knownType(candidate) : null;
    if (type !== null) return type;
  }
  return null;
}

function knownType(path: string): string | null {
  const type = mimeTypeForPath(path);
  return type === DEFAULT_MIME_TYPE ? null : type;
}

interface InlineContent {
  readonly bytes: Uint8Array;
  /** As a data: URI states it. */
  readonly mimeType: string | null;
  readonly usedKeys: string[];
}

function inlineContent(entry: JsonObject, location: EntryLocation): InlineContent | null {
  for (const key of [...CONTENT_KEYS, ...REFERENCE_KEYS]) {
    const value = getMember(entry, key);
    if (typeof value === 'string' && isDataUri(value)) return dataUriContent(entry, key, value, location);
  }
  for (const key of CONTENT_KEYS) {
    const value = getMember(entry, key);
    if (typeof value === 'string')
      return { bytes: decodeContent(entry, key, value, location), mimeType: null, usedKeys: [key] };
    // Content that is JSON becomes a JSON file.
    if (key === 'data' && value !== undefined && value !== null) {
      const mimeType = statedType(entry) ?? 'application/json';
      return { bytes: new TextEncoder().encode(canonicalJson(value)), mimeType, usedKeys: [key] };
    }
  }
  return null;
}

function dataUriContent(entry: JsonObject, key: string, uri: string, location: EntryLocation): InlineContent {
  const content = parseDataUri(uri);
  const bytes = content && decodeBase64(content.data);
  if (!content || !bytes) throw invalidAsset(location, key, `is not a valid data: URI: ${quote(uri)}`);
  return { bytes, mimeType: statedType(entry) ?? content.mimeType, usedKeys: [key] };
}

/**
 * Decodes content under an old name: base64 in any spelling. Under a name that does not mean base64 (`content`, or `data`
 * without `encoding`), other text is the content, and so is text of a textual media type that does not decode to text.
 */
function decodeContent(entry: JsonObject, key: string, text: string, location: EntryLocation): Uint8Array {
  const bytes = decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'));
  const encoding = getMember(entry, 'encoding');
  if (encoding === 'base64' || key === 'base64') {
    if (bytes === null) throw invalidAsset(location, key, `is not valid base64: ${quote(text)}`);
    return bytes;
  }
  const isTextual = /^text\/|[/+](?:json|xml|yaml|javascript|csv)\b/.test(statedType(entry) ?? '');
  const isLiteral = bytes === null || encoding !== undefined || (isTextual && decodeUtf8(bytes) === null);
  return isLiteral ? new TextEncoder().encode(text.toWellFormed()) : bytes;
}

/** Null for an entry with a link, or without any reference. */
function referencedFile(
  entry: JsonObject,
  locationOf: (key: string) => EntryLocation,
  resolveFile: (reference: string) => string | null,
): string | null {
  let missing: { readonly key: string; readonly name: string } | null = null;
  let hasLink = false;
  for (const key of REFERENCE_KEYS) {
    const value = getMember(entry, key);
    if (typeof value !== 'string' || value === '') continue;
    const file = URL_PATTERN.test(value) ? null : resolveFile(value);
    if (file !== null) return file;
    if (isLink(key, value)) hasLink = true;
    else missing ??= { key, name: value };
  }
  if (missing === null || hasLink) return null;
  throw new PackageError('package_missing_file', `The archive has no file ${quote(missing.name)}.`, {
    entry: missing.name,
    location: locationOf(missing.key),
  });
}

const URL_PATTERN = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Whether a reference that no file has is not the name of a file: a URL, and except as `path` an absolute reference. */
function isLink(key: string, reference: string): boolean {
  if (key === 'path') return URL_PATTERN.test(reference) && !/^file:/i.test(reference);
  return /^(?:[/\\]|[a-z][a-z0-9+.-]+:)/i.test(reference);
}

function invalidAsset(location: EntryLocation, key: string, problem: string): JsonlError {
  const path = `${location.path}/${key}`;
  return new JsonlError('invalid_asset', `${path} ${problem}`, { ...location, path });
}
