import { Alert, Group } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { SmallButton } from '../small-button.tsx';
import { formatCountOf } from '../text/formats.ts';

/** An image at another host, if this browser shows such images; else, or where it cannot be loaded, what stands for it. */
export function RemoteImage({
  address,
  alt,
  className,
  children,
}: {
  /** See `imageAddress`. */
  readonly address: string | undefined;
  readonly alt: string;
  readonly className: string;
  readonly children: ReactNode;
}) {
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

/** Hosts that are named before they are asked. */
const MAX_HOSTS = 3;

/** Offers to show images at other hosts; nothing if there are none, or they are shown. */
export function ShowImages({ addresses }: { readonly addresses: readonly string[] }) {
  if (addresses.length === 0 || showsImages()) return null;
  const hosts = [...new Set(addresses.map((address) => new URL(address).host))];
  const named = hosts.slice(0, MAX_HOSTS).join(', ');
  const others =
    hosts.length > MAX_HOSTS ? ` and ${formatCountOf(hosts.length - MAX_HOSTS, 'other host')}` : '';
  return (
    <Alert color="gray" variant="light" p="xs">
      <Group justify="space-between" gap="xs">
        <span className="break">
          {formatCountOf(addresses.length, 'image')} at {named}
          {others}. Your browser would ask such hosts, here and on every page, until you change it in
          Settings. The page loads again.
        </span>
        <SmallButton onClick={() => changeShowsImages(true)}>Show images</SmallButton>
      </Group>
    </Alert>
  );
}
