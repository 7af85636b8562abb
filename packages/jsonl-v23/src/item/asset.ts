import { isBase64 } from '#native';
import { JsonlError } from '../errors.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { describeText } from '../json/describe.ts';
import {
  describeValue,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { isDataUri, parseDataUri } from '../media/data-uri.ts';
import { DEFAULT_MIME_TYPE, mimeTypeForPath } from '../media/mime-type.ts';
import { jsonPointer, type SourceLocation } from '../source-location.ts';

export interface LocatedAsset {
  /** The entry's name, or its index if the assets are a list. */
  readonly name: string | number;
  readonly entry: JsonObject;
  /** JSON Pointer of the entry in the item. */
  readonly pointer: string;
}

/** An entry whose content is in a file of the archive. */
export interface FileReference {
  readonly kind: 'asset' | 'checker';
  /** Path in the archive, which it never leaves: under `checkers/`, or for an asset anywhere; of a link, its URL. */
  readonly path: string;
  /** The file that a link names, if links are read. */
  readonly link?: AssetLink;
  /** JSON Pointer of the entry in the item. */
  readonly pointer: string;
  /** Bytes that embedding the file adds to the canonical text of the item, apart from the base64 text itself. */
  readonly addedBytes: number;
}

export function assetEntries(item: JsonObject): LocatedAsset[] {
  const assets = getMember(item, 'assets');
  if (assets === undefined) return [];
  const named: [string | number, JsonValue][] = Array.isArray(assets)
    ? [...assets.entries()]
    : isJsonObject(assets)
      ? Object.entries(assets)
      : [];
  const located: LocatedAsset[] = [];
  for (const [name, entry] of named) {
    if (isJsonObject(entry)) located.push({ name, entry, pointer: jsonPointer(['assets', name]) });
  }
  return located;
}

/**
 * The files of its archive that an item refers to: by asset entries with a `path` and without `data` (outside `assets/`
 * also without `url`), and by a checker with a `path` under `checkers/` and without `data`.
 *
 * @example fileReferences({ assets: [{ path: 'assets/a.png' }] })
 * // [{ kind: 'asset', path: 'assets/a.png', pointer: '/assets/0' }]
 */
export function fileReferences(item: JsonObject): FileReference[] {
  return linkedReferences(item, null);
}

/** As {@link fileReferences}, with links to files of a service. @param origins of the service; null for no links */
export function linkedReferences(item: JsonObject, origins: readonly string[] | null): FileReference[] {
  const references: FileReference[] = [];
  const add = (kind: FileReference['kind'], entry: JsonObject, pointer: string): void => {
    const link = origins === null ? null : linkOf(kind, entry, origins);
    const path = link === null ? referencedPath(entry, FOLDERS[kind]) : (entry['url'] as string);
    if (path === null) return;
    const found = { kind, path, pointer, ...(link === null ? {} : { link }) };
    references.push({ ...found, addedBytes: addedBytes(entry, filledEntry(entry, found)) });
  };
  for (const { entry, pointer } of assetEntries(item)) add('asset', entry, pointer);
  const checker = getMember(item, 'checker');
  if (isJsonObject(checker)) add('checker', checker, '/checker');
  return references;
}

const FOLDERS = { asset: 'assets', checker: 'checkers' } as const;

/** The file that an entry links in place of content. A checker is a file only if its `path` says nothing else. */
function linkOf(
  kind: FileReference['kind'],
  entry: JsonObject,
  origins: readonly string[],
): AssetLink | null {
  if (Object.hasOwn(entry, 'data')) return null;
  const [url, path] = [getMember(entry, 'url'), getMember(entry, 'path')];
  if (typeof url !== 'string') return null;
  const isFile = path === undefined || (typeof path === 'string' && isInFolder(path, 'checkers'));
  return kind === 'asset' || isFile ? readAssetLink(url, origins) : null;
}

/** An entry as it is with the content that it refers to, apart from `data`. */
export function filledEntry(
  entry: JsonObject,
  { kind, path, link }: Pick<FileReference, 'kind' | 'path' | 'link'>,
): JsonObject {
  const filled: JsonObject = { ...link?.own };
  for (const key of Object.keys(entry)) {
    if (link === undefined || !LINK_MEMBERS.has(key)) setMember(filled, key, entry[key] as JsonValue);
  }
  if (kind === 'asset' && !Object.hasOwn(entry, 'mime_type')) {
    const ofFile = link === undefined ? path : getMember(entry, 'path');
    setMember(filled, 'mime_type', typeof ofFile === 'string' ? mimeTypeForPath(ofFile) : DEFAULT_MIME_TYPE);
  }
  setMember(filled, 'encoding', 'base64');
  return filled;
}

/** What an entry gains with its content, apart from the base64 text. */
function addedBytes(entry: JsonObject, filled: JsonObject): number {
  const membersOf = (object: JsonObject, other: JsonObject): number =>
    Object.keys(object).reduce((sum, key) => {
      const value = object[key] as JsonValue;
      return Object.hasOwn(other, key) && other[key] === value ? sum : sum + memberBytes(key, value);
    }, 0);
  return ',"data":""'.length + membersOf(filled, entry) - membersOf(entry, filled);
}

/** Bytes of a member and its comma. */
const memberBytes = (key: string, value: JsonValue): number =>
  2 + UTF8.encode(canonicalJson(key) + canonicalJson(value)).byteLength;

const UTF8 = new TextEncoder();

/** The archive file that an entry without `data` names, or null. An asset without a `url` too must have its content there. */
export function referencedPath(entry: JsonObject, folder: 'assets' | 'checkers'): string | null {
  if (Object.hasOwn(entry, 'data')) return null;
  const path = getMember(entry, 'path');
  if (typeof path !== 'string') return null;
  if (isInFolder(path, folder)) return path;
  return folder === 'assets' && typeof getMember(entry, 'url') !== 'string' ? path : null;
}

/** `data` is base64, `path` under `checkers/` or absent. An archive may store it as a file: its path is not content. */
export function isEmbeddedChecker(checker: JsonValue | undefined): checker is JsonObject {
  if (!isJsonObject(checker)) return false;
  if (getMember(checker, 'encoding') !== 'base64' || typeof getMember(checker, 'data') !== 'string')
    return false;
  const path = getMember(checker, 'path');
  return path === undefined || (typeof path === 'string' && isInFolder(path, 'checkers'));
}

/** Assets with other entries, in the same order; the same value if all entries stay the same. */
export function mapEntries(
  assets: JsonValue,
  map: (entry: JsonValue, name: string | number) => JsonValue,
): JsonValue {
  if (Array.isArray(assets)) {
    const mapped = assets.map(map);
    return mapped.some((entry, index) => entry !== assets[index]) ? mapped : assets;
  }
  if (!isJsonObject(assets)) return assets;
  let result = assets;
  for (const name of Object.keys(assets)) {
    const entry = assets[name] as JsonValue;
    const mapped = map(entry, name);
    if (mapped === entry) continue;
    if (result === assets) result = { ...assets };
    setMember(result, name, mapped);
  }
  return result;
}

/** Requires base64 `data` and a `path` under `checkers/` of a checker that is, or refers to, a file. */
export function normaliseChecker(checker: JsonValue, location: SourceLocation): JsonValue {
  if (!isJsonObject(checker)) return checker;
  const at = new AssetLocation(location, ['checker']);
  const path = getMember(checker, 'path');
  const namesFile = typeof path === 'string' && firstFolder(path) === 'checkers';
  if (!namesFile && getMember(checker, 'encoding') !== 'base64') return checker;
  if (!namesFile && typeof getMember(checker, 'data') !== 'string') return checker;
  if (namesFile && !isInFolder(path, 'checkers'))
    throw at.error('path', `must be a plain path under checkers/, got ${describeText(path)}`);
  return withCheckedData(checker, at);
}

class AssetLocation {
  readonly #location: SourceLocation;
  readonly #path: readonly (string | number)[];

  constructor(location: SourceLocation, path: readonly (string | number)[]) {
    this.#location = location;
    this.#path = path;
  }

  error(
    member: string | null,
    problem: string,
    code: 'invalid_asset' | 'missing_file' = 'invalid_asset',
  ): JsonlError {
    const path = jsonPointer(member === null ? this.#path : [...this.#path, member]);
    return new JsonlError(code, `${path} ${problem}`, { ...this.#location, path });
  }
}

/** Short forms become entries, `content_type` `mime_type`, and data: URIs content; never changes the value itself. */
export function normaliseAsset(
  value: JsonValue,
  name: string | number,
  location: SourceLocation,
): JsonObject {
  const at = new AssetLocation(location, ['assets', name]);
  let entry = expandShortForm(value, at);
  entry = withMimeType(entry, at);
  entry = withoutDataUri(entry, at);
  entry = withCheckedData(entry, at);
  checkPath(entry, at);
  if (Object.hasOwn(entry, 'data') && !Object.hasOwn(entry, 'mime_type')) {
    const path = getMember(entry, 'path');
    entry = { ...entry, mime_type: typeof path === 'string' ? mimeTypeForPath(path) : DEFAULT_MIME_TYPE };
  }
  return entry;
}

function expandShortForm(value: JsonValue, at: AssetLocation): JsonObject {
  if (isJsonObject(value)) return value;
  if (typeof value === 'string') {
    if (value.startsWith('assets/')) return { path: value };
    if (isDataUri(value) || /^https?:\/\//i.test(value)) return { url: value };
    throw at.error(null, `must be an assets/ path or a URL, got ${describeText(value)}`);
  }
  throw at.error(null, `must be an object or a string, got ${describeValue(value)}`);
}

/** `content_type` is another name of `mime_type`; if an entry has both, `mime_type` wins. */
function withMimeType(entry: JsonObject, at: AssetLocation): JsonObject {
  const mimeType = textMember(entry, 'mime_type', at);
  if (!Object.hasOwn(entry, 'content_type')) return entry;
  const { content_type: _, ...rest } = entry;
  return mimeType === undefined
    ? { ...rest, mime_type: textMember(entry, 'content_type', at) as string }
    : rest;
}

/** Turns a data: URI into embedded content. The entry's own media type wins over the URI's. */
function withoutDataUri(entry: JsonObject, at: AssetLocation): JsonObject {
  const url = textOrNullMember(entry, 'url', at);
  if (typeof url !== 'string' || !isDataUri(url)) return entry;
  const content = parseDataUri(url);
  if (content === null) throw at.error('url', `is not a valid data: URI: ${describeText(url)}`);
  const stated = getMember(entry, 'data');
  if (stated !== undefined && stated !== content.data) {
    throw at.error('url', 'is a data: URI, but the entry has other content in "data"');
  }
  const { url: _, ...rest } = entry;
  return {
    mime_type: content.mimeType,
    ...rest,
    encoding: getMember(entry, 'encoding') ?? 'base64',
    data: content.data,
  };
}

function withCheckedData(entry: JsonObject, at: AssetLocation): JsonObject {
  const encoding = getMember(entry, 'encoding');
  if (encoding !== undefined && encoding !== 'base64') {
    throw at.error('encoding', `must be "base64", got ${describeValue(encoding)}`);
  }
  const data = textMember(entry, 'data', at);
  if (data === undefined) return entry;
  if (!isBase64(data)) throw at.error('data', `is not valid base64: ${describeText(data)}`);
  return encoding === undefined ? { ...entry, encoding: 'base64' } : entry;
}

/** The path of an entry without content is a reference, which must stay in its folder. */
function checkPath(entry: JsonObject, at: AssetLocation): void {
  const path = textOrNullMember(entry, 'path', at);
  if (typeof path !== 'string' || Object.hasOwn(entry, 'data')) return;
  if (firstFolder(path) === 'assets') {
    if (!isInFolder(path, 'assets'))
      throw at.error('path', `must be a plain path under assets/, got ${describeText(path)}`);
  } else if (
    typeof getMember(entry, 'url') !== 'string' &&
    /^[/\\]|\\|^[A-Za-z]:|(^|\/)\.\.(\/|$)/.test(path)
  ) {
    throw at.error('path', `must not leave the archive, got ${describeText(path)}`, 'missing_file');
  }
}

/** The first folder of a path in any spelling: `./assets/x`, `/assets/x` and `assets\x` are in `assets`. */
function firstFolder(path: string): string {
  return /^[./\\]*([^./\\][^/\\]*)[/\\]/.exec(path)?.[1] ?? '';
}

/** Whether a path is `folder/...` with plain segments: no empty one, no `.`, no `..`, no backslash, no NUL. */
function isInFolder(path: string, folder: 'assets' | 'checkers'): boolean {
  if (!path.startsWith(`${folder}/`) || /[\\\0]/.test(path)) return false;
  return path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

function textMember(entry: JsonObject, key: string, at: AssetLocation): string | undefined {
  const value = getMember(entry, key);
  if (value === undefined || typeof value === 'string') return value;
  throw at.error(key, `must be a string, got ${describeValue(value)}`);
}

function textOrNullMember(entry: JsonObject, key: string, at: AssetLocation): string | null | undefined {
  return getMember(entry, key) === null ? null : textMember(entry, key, at);
}

/** A file of a dataset of a service, as a link names it. */
export interface AssetLink {
  /** Id or handle of the dataset. */
  readonly dataset: string;
  /** SHA-256 of the file in lower-case hex digits, if the link is right. */
  readonly sha256: string;
  /** The entry's own members of {@link LINK_MEMBERS}, which the link replaces. */
  readonly own: JsonObject;
}

/** Members that an entry with a link has in place of its content. */
export const LINK_MEMBERS: ReadonlySet<string> = new Set(['url', 'sha256', 'byte_length']);

const PATH = /^\/datasets\/([^/?#]+)\/assets\/([^/?#]*)(?:\?[^#]*)?(?:#(.*))?$/s;
const ADDRESS = /^https?:\/\/[^/?#]*/i;

/** Reads `/datasets/{id}/assets/{sha256}`, relative or with an origin such as `https://datasets.example.org`. */
function readAssetLink(url: string, origins: readonly string[]): AssetLink | null {
  const [address = ''] = ADDRESS.exec(url) ?? [];
  const [, dataset, sha256, fragment = ''] = PATH.exec(url.slice(address.length)) ?? [];
  if (dataset === undefined || sha256 === undefined) return null;
  if (address !== '' && !origins.includes(originOf(address))) return null;
  return { dataset, sha256: sha256.toLowerCase(), own: readOwn(fragment) };
}

/** The link to a file of an entry whose own members have names of {@link LINK_MEMBERS}: the fragment holds them. */
export const withOwnMembers = (link: string, own: JsonObject): string =>
  Object.keys(own).length === 0 ? link : `${link}#${encodeURIComponent(canonicalJson(own))}`;

/** The members of a fragment; none if another program wrote it. */
function readOwn(fragment: string): JsonObject {
  if (fragment === '') return {};
  try {
    const own = parseJson(decodeURIComponent(fragment));
    const isOwn = isJsonObject(own) && Object.keys(own).every((name) => LINK_MEMBERS.has(name));
    return isOwn && ['string', 'undefined'].includes(typeof (own['url'] ?? undefined)) ? own : {};
  } catch (error) {
    if (error instanceof JsonlError || error instanceof URIError) return {};
    throw error;
  }
}

/** The origin of an address in its usual form: lower case, without the default port. */
const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : address);
