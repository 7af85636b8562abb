import { JsonlError, type SourceLocation } from '@svc/jsonl-v23';
import {
  DEFAULT_MIME_TYPE,
  decodeBase64,
  encodeBase64,
  isDataUri,
  mimeTypeForPath,
  parseDataUri,
  sniffMimeType,
} from '@svc/jsonl-v23/internal';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonPointer,
  setMember,
} from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import { decodeUtf8 } from '../zip/entry-name.ts';

/** Where an entry stands; `path` is its JSON Pointer. */
type EntryLocation = SourceLocation & { path: string };

export interface AssetUpgrade {
  /** A list or a map of entries, as the legacy item had it. */
  assets: JsonValue;
  /** What kind of content became a file, one for each: `assets (inline)`, `assets (file)`. */
  moved: string[];
  /** Archive files whose content is to be embedded, by the JSON Pointer of their entry. */
  files: Map<string, string>;
}

/** Where an old value is kept that has no place in the new entry. */
const LEGACY = 'legacy';
const CONTENT_KEYS = ['data', 'base64', 'content'] as const;
const TYPE_KEYS = ['mime_type', 'content_type', 'mime', 'media_type'] as const;
/** Members that mean something else now, or may not stand beside content. */
const MOVING_KEYS = ['path', 'content_type', 'encoding'];
const REFERENCE_KEYS = ['path', 'file', 'src', 'href', 'url', 'uri', 'filename'] as const;

/**
 * Brings the assets of a legacy item into the form of JSONL v2.3: content inline under any of its old names, data: URIs
 * and references to files anywhere in the archive become entries with `mime_type` and content. A path that an entry
 * bore, and a second media type, are kept under its member `legacy`.
 *
 * @param resolveFile the path of the archive file that a reference means, or null
 * @throws JsonlError `invalid_asset`; PackageError `package_missing_file`
 */
export function upgradeAssets(
  assets: JsonValue,
  resolveFile: (reference: string) => string | null,
  location: SourceLocation,
): AssetUpgrade {
  const upgrade: AssetUpgrade = { assets, moved: [], files: new Map() };
  const entryOf = (value: JsonValue, name: string | number): JsonValue =>
    upgradeEntry(value, name, { ...location, path: jsonPointer(['assets', name]) }, resolveFile, upgrade);
  if (Array.isArray(assets)) upgrade.assets = assets.map(entryOf);
  else if (isJsonObject(assets)) {
    const entries: JsonObject = {};
    for (const name of Object.keys(assets)) setMember(entries, name, entryOf(assets[name]!, name));
    upgrade.assets = entries;
  } else if (typeof assets === 'string') upgrade.assets = [entryOf(assets, 0)];
  return upgrade;
}

function upgradeEntry(
  value: JsonValue,
  name: string | number,
  location: EntryLocation,
  resolveFile: (reference: string) => string | null,
  upgrade: AssetUpgrade,
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
  const file = referencedFile(entry, location, resolveFile);
  if (file === null) return renewed(entry, statedType(entry), []);
  upgrade.moved.push('assets (file)');
  upgrade.files.set(location.path, file);
  return renewed(entry, statedType(entry) ?? knownType(file), []);
}

/** The short forms: a data: URI, a link, or else a file of the archive. */
function entryOfText(text: string): JsonObject {
  return isDataUri(text) || /^https?:\/\//i.test(text) ? { url: text } : { path: text };
}

/** An entry without the members that were used up; what it said of its path and other types is kept. */
function renewed(entry: JsonObject, mimeType: string | null, usedKeys: readonly string[]): JsonObject {
  const result: JsonObject = {};
  const legacy: JsonObject = {};
  for (const key of Object.keys(entry)) {
    const value = entry[key]!;
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
  bytes: Uint8Array;
  /** As a data: URI states it. */
  mimeType: string | null;
  usedKeys: string[];
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
    // Content that is JSON itself is a file of that JSON.
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
 * Content under an old name is base64, in any of its spellings; under a name that does not promise it (`content`,
 * `data` without `encoding`), text that is not base64 is taken as the text it is. So is text whose type is textual and
 * that would decode to no text.
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

/** The archive file that an entry without content names; a `path` that names none is an error, a link is none. */
function referencedFile(
  entry: JsonObject,
  location: EntryLocation,
  resolveFile: (reference: string) => string | null,
): string | null {
  for (const key of REFERENCE_KEYS) {
    const value = getMember(entry, key);
    if (typeof value !== 'string' || value === '' || /^[a-z][a-z0-9+.-]*:\/\//i.test(value)) continue;
    const file = resolveFile(value);
    if (file !== null) return file;
    if (key === 'path' && typeof getMember(entry, 'url') !== 'string') {
      throw new PackageError('package_missing_file', `The archive has no file ${quote(value)}`, {
        entry: value,
        location,
      });
    }
  }
  return null;
}

function invalidAsset(location: EntryLocation, key: string, problem: string): JsonlError {
  const path = `${location.path}/${key}`;
  return new JsonlError('invalid_asset', `${path} ${problem}`, { ...location, path });
}
