import { Anchor, Box, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useInViewport } from '@mantine/hooks';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { useRef } from 'react';
import { Part } from '../../ui/layout/page.tsx';
import { textIn } from '../../ui/pointer-of.ts';
import { onDemand } from '../../ui/query-state.tsx';
import { imageAddress, RemoteImage } from '../../ui/remote-images.tsx';
import { Note } from '../../ui/text/dimmed.ts';
import { formatBytes } from '../../ui/text/formats.ts';
import type { ShownFile } from './text-file.tsx';

const TextFile = onDemand(
  () => import('./text-file.tsx'),
  () => <Skeleton h={60} />,
);

/** The files of an item: those that its dataset holds are shown, others are links, or images where this browser shows them. */
export function AssetList(props: {
  readonly assets: readonly { name: string; entry: JsonObject }[];
  readonly datasetId: string | undefined;
}) {
  const { assets, datasetId } = props;
  if (assets.length === 0) return null;
  return (
    <Part order={3} title={assets.length === 1 ? 'File' : `Files (${assets.length})`}>
      <Stack gap="sm">
        {assets.map(({ name, entry }) => (
          <Asset key={name} name={name} entry={entry} datasetId={datasetId} />
        ))}
      </Stack>
    </Part>
  );
}

function Asset(props: {
  readonly name: string;
  readonly entry: JsonObject;
  readonly datasetId: string | undefined;
}) {
  const { name, entry, datasetId } = props;
  const type = textIn(entry, 'mime_type') ?? 'application/octet-stream';
  const url = ownUrl(entry, type, datasetId);
  const remote = url === undefined ? textIn(entry, 'url') : undefined;
  const length = getMember(entry, 'byte_length');
  return (
    <Box component="figure" m={0}>
      {url !== undefined && <Shown url={url} type={type} name={name} />}
      <RemoteImage address={remoteImageOf(entry, datasetId)} alt={name} className="asset-image">
        {null}
      </RemoteImage>
      <Group component="figcaption" gap={8} mt={4}>
        <Text span size="xs" fw={600}>
          {name}
        </Text>
        <Note>
          {type}
          {typeof length === 'number' ? `, ${formatBytes(length)}` : ''}
        </Note>
        {url?.startsWith('/') && (
          <Anchor size="xs" href={url} target="_blank" rel="noopener">
            Open
          </Anchor>
        )}
        {url?.startsWith('data:') && (
          <Anchor size="xs" href={url} download={name}>
            Save
          </Anchor>
        )}
        {remote !== undefined && <RemoteLink url={remote} />}
      </Group>
    </Box>
  );
}

function RemoteLink({ url }: { readonly url: string }) {
  if (!/^https?:\/\//.test(url)) return <Text size="xs">{url.slice(0, 200)}</Text>;
  return (
    <Anchor size="xs" href={url} target="_blank" rel="noopener noreferrer nofollow" className="break">
      {url.slice(0, 200)} (another host)
    </Anchor>
  );
}

/** A file in a part of a message: its own bytes are shown, any other host gets a link, or is asked for an image. */
export function FileView(file: ShownFile) {
  const { url, type, name } = file;
  return url.startsWith('data:') && SHOWN.test(type) ? (
    <Shown {...file} />
  ) : (
    <RemoteImage address={imageAddress(url, type)} alt={name} className="asset-image">
      <RemoteLink url={url} />
    </RemoteImage>
  );
}

export function remoteImageOf(entry: JsonObject, datasetId: string | undefined): string | undefined {
  const type = textIn(entry, 'mime_type');
  if (ownUrl(entry, type ?? '', datasetId) !== undefined) return undefined;
  return imageAddress(textIn(entry, 'url') ?? '', type);
}

function Shown(file: ShownFile) {
  const { url, type, name } = file;
  if (type.startsWith('image/')) {
    const image = <img className="asset-image" src={url} alt={name} loading="lazy" />;
    // a file of the service is opened in its full size
    return url.startsWith('/') ? (
      <a href={url} target="_blank" rel="noopener" title="Full size">
        {image}
      </a>
    ) : (
      image
    );
  }
  if (type.startsWith('audio/')) return <audio controls preload="none" src={url} aria-label={name} />;
  if (type.startsWith('video/'))
    return <video controls preload="none" src={url} className="asset-image" aria-label={name} />;
  // a link of the service can be read in part; a browser shows no PDF in a frame without an origin
  return TEXT.test(type) && url.startsWith('/') ? <ShownText {...file} /> : null;
}

/** A text file, read when it is in view: an item may have any number of them. */
function ShownText(file: ShownFile) {
  const { ref, inViewport } = useInViewport();
  const wasSeen = useRef(false);
  wasSeen.current ||= inViewport;
  return (
    <Box ref={ref} mih={60}>
      {wasSeen.current && <TextFile {...file} />}
    </Box>
  );
}

const TEXT =
  /^(?:text\/[a-z0-9.+-]+|application\/(?:[a-z0-9.+-]+\+)?(?:json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|csv|sql|javascript))$/;

const SHOWN = /^(?:image|audio|video)\/[a-z0-9.+-]+$/;

/** Bytes of an image that a list shows. */
const MAX_THUMBNAIL_BYTES = 512 * 1024;

/** The address of the first image of an item that is small enough for a list; undefined without one. */
export function thumbnailOf(assets: readonly { readonly entry: JsonObject }[], datasetId: string) {
  return assets
    .filter(({ entry }) => Number(getMember(entry, 'byte_length')) <= MAX_THUMBNAIL_BYTES)
    .map(({ entry }) => [textIn(entry, 'mime_type') ?? '', entry] as const)
    .filter(([type]) => type.startsWith('image/'))
    .map(([type, entry]) => ownUrl(entry, type, datasetId))
    .find((url) => url?.startsWith('/'));
}

/** The bytes of a file, or the service’s link to them. A link that an item came with may lead to a file of another dataset. */
function ownUrl(entry: JsonObject, type: string, datasetId: string | undefined): string | undefined {
  const url = textIn(entry, 'url');
  const hash = textIn(entry, 'sha256') ?? '';
  const isHash = /^[0-9a-f]{64}$/.test(hash);
  const link = `/datasets/${datasetId}/assets/${hash}`;
  if (datasetId !== undefined && isHash && url?.replace(/\?version=\d{1,10}$/, '') === link) return url;
  const data = textIn(entry, 'data');
  // any other type could be a page, which must not be opened here
  const kept = SHOWN.test(type) ? type : 'application/octet-stream';
  return data === undefined ? undefined : `data:${kept};base64,${data}`;
}
