import { Alert, Group } from '@mantine/core';
import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type ReactNode, useState } from 'react';
import { SmallButton } from './buttons.tsx';
import { textIn } from './pointer-of.ts';
import { formatCountOf } from './text/formats.ts';

/** An image at another host; what stands for it where this browser does not show such images, or cannot load it. */
export function RemoteImage(props: {
  /** See `imageAddress`. */
  readonly address: string | undefined;
  readonly alt: string;
  readonly className: string;
  readonly children: ReactNode;
}) {
  const { address, alt, className, children } = props;
  const [failed, setFailed] = useState<string>();
  if (address === undefined || failed === address || !showsImages()) return children;
  return (
    <img
      className={className}
      src={address}
      alt={alt}
      loading="lazy"
      referrerPolicy="no-referrer"
      onError={() => setFailed(address)}
    />
  );
}

/**
 * Whether this page may ask other hosts for images. The service decides it when it sends the page, by a cookie of the
 * browser, because the policy of a page cannot be relaxed later.
 */
export const showsImages = (): boolean =>
  document.querySelector<HTMLMetaElement>('meta[name="svc-images"]')?.content === 'shown';

const SECONDS_OF_A_YEAR = 365 * 24 * 60 * 60;

/** Remembers for this browser whether images of other hosts are shown, and loads the page again under that policy. */
export function changeShowsImages(areShown: boolean): void {
  const secure = location.protocol === 'https:' ? '; Secure' : '';
  const age = areShown ? SECONDS_OF_A_YEAR : 0;
  // biome-ignore lint/suspicious/noDocumentCookie: browsers have the Cookie Store API over HTTPS only
  document.cookie = `svc_images=shown; Path=/; SameSite=Strict; Max-Age=${age}${secure}`;
  location.reload();
}

const MAX_HOSTS = 3;

export function ShowImages({ addresses }: { readonly addresses: readonly string[] }) {
  if (addresses.length === 0 || showsImages()) return null;
  const hosts = [...new Set(addresses.map((address) => new URL(address).host))];
  const named = hosts.slice(0, MAX_HOSTS).join(', ');
  const others =
    hosts.length > MAX_HOSTS ? ` and ${formatCountOf(hosts.length - MAX_HOSTS, 'other host')}` : '';
  return (
    <Alert color="gray" p="xs">
      <Group justify="space-between" gap="xs">
        <span className="break">
          {formatCountOf(addresses.length, 'image')} at {named}
          {others}. Your browser would ask such hosts, here and on every page, until you change it in
          Settings. The page loads again.
        </span>
        <SmallButton label="Show images" onClick={() => changeShowsImages(true)} />
      </Group>
    </Alert>
  );
}

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
  return imageAddress(
    textIn(value, 'url') ?? '',
    textIn(value, 'mime_type') ?? (isOfImages ? 'image/*' : undefined),
  );
}
