import { Alert, Group } from '@mantine/core';
import { SmallButton } from '../small-button.tsx';
import { formatCountOf } from '../text/formats.ts';
import { changeShowsImages, showsImages } from './shows-images.ts';

/** Hosts that are named before they are asked. */
const MAX_HOSTS = 3;

/** Offers to show the images that are at other hosts; nothing where there are none, or where they are shown. */
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
