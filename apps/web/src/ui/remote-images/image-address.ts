import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';

const MAX_LENGTH = 8_192;

/** Endings of names that belong to one machine or network (RFC 6761, RFC 6762, and names in use). */
const PRIVATE_NAME =
  /(?:^|\.)(?:localhost|localdomain|local|internal|intranet|private|corp|home|lan|test|invalid|onion|arpa)$/;

/** A name with a dot; addresses by number are in no certificate of a public host, and may be of this network. */
const PUBLIC_NAME = /^(?!\d+(?:\.\d+)*$)[^\s[\]:]+\.[^\s[\]:.]+$/;

const IMAGE_FILE = /\.(?:apng|avif|bmp|gif|ico|jfif|jpe?g|png|svg|webp)$/i;

/** An `https` address of a public host without credentials, as a browser would ask for it; undefined for any other text. */
function publicAddress(text: string): URL | undefined {
  if (text.length > MAX_LENGTH || !/^https:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const host = url.hostname.replace(/\.$/, '');
  const isPublic = PUBLIC_NAME.test(host) && !PRIVATE_NAME.test(host);
  return isPublic && url.username === '' && url.password === '' ? url : undefined;
}

/**
 * The address of an image at another host; undefined for what is none, or cannot be shown: any other scheme, credentials,
 * a host of this machine or network.
 *
 * @param type media type that the data state; without it, the name of the file has to be an image's
 */
export function imageAddress(text: string, type: string | undefined): string | undefined {
  const url = publicAddress(text);
  if (url === undefined) return undefined;
  const isImage = type === undefined ? IMAGE_FILE.test(url.pathname) : type.startsWith('image/');
  return isImage ? url.href : undefined;
}

/** Names of columns whose addresses are images, whatever they look like. */
const IMAGE_COLUMN = /(?:^|[^a-z])(?:image|img|picture|photo|thumbnail)s?(?:$|[^a-z])/i;

/** The address of an image in a cell of a table: an object with `url`, or a text. */
export function imageAddressOfCell(
  value: JsonValue,
  column: { readonly name: string; readonly dtype: string },
): string | undefined {
  const isOfImages = column.dtype === 'image' || IMAGE_COLUMN.test(column.name);
  if (typeof value === 'string') return imageAddress(value, isOfImages ? 'image/*' : undefined);
  if (!isJsonObject(value)) return undefined;
  const url = getMember(value, 'url');
  const type = getMember(value, 'mime_type');
  if (typeof url !== 'string') return undefined;
  return imageAddress(url, typeof type === 'string' ? type : isOfImages ? 'image/*' : undefined);
}
