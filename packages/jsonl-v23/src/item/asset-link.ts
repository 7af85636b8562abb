import { JsonlError } from '../errors.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';

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

/**
 * Reads a link to a file of a service: `/datasets/{id}/assets/{sha256}`, relative or with an origin of the service. Null for
 * any other text.
 *
 * @param origins of the service, such as `https://datasets.example.org`
 */
export function readAssetLink(url: string, origins: readonly string[]): AssetLink | null {
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
