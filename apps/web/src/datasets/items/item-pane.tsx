import { Group, Stack, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { get } from '../../api/api.ts';
import { useCan } from '../../session/session.tsx';
import { LinkAnchor, SmallButton } from '../../ui/buttons.tsx';
import { Icon } from '../../ui/icons.tsx';
import { isShown, QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { plainText } from '../../ui/text/formats.ts';
import { isItemHash } from '../dataset-search.ts';
import { itemQuery } from '../queries.ts';
import { RemoveItems } from './edit/chosen-items.tsx';
import { ItemEditor, useCurrentItem } from './edit/item-editor.tsx';
import { ItemViewer } from './item-viewer.tsx';
import { type Dataset, type ListedItem, positionIn, readItem } from './item-windows.ts';

export function ItemPane(props: {
  readonly dataset: Dataset;
  readonly item: string;
  readonly place: string;
  readonly isNewest: boolean;
}) {
  const { dataset, item: chosen, place, isNewest } = props;
  const canEdit = useCan('editor') && isNewest;
  const found = useQuery(itemQuery(dataset, place));
  const [edited, setEdited] = useState<{ readonly item: string; readonly listed: ListedItem }>();
  // what is typed stays while the dataset is read again, whatever happened to the item
  if (edited?.item === chosen)
    return <ItemEditor dataset={dataset} listed={edited.listed} onClose={() => setEdited(undefined)} />;
  if (!isShown(found)) return <QueryState query={found} rows={4} />;
  if (found.data === null)
    return isItemHash(chosen) ? (
      <GoneItem dataset={dataset} hash={chosen} />
    ) : (
      <Dimmed p="md">This version of the dataset has no item at this place.</Dimmed>
    );
  const { item, section, order_index, item_hash, error } = found.data;
  if (item === null)
    return (
      <Text p="md" size="sm">
        Item {order_index} of {section} cannot be shown: {error?.message}
      </Text>
    );
  const viewer = (
    <ItemViewer
      item={item as JsonObject}
      datasetId={dataset.id}
      section={section}
      orderIndex={order_index}
      hash={item_hash}
    />
  );
  return canEdit ? (
    <Changeable
      key={item_hash}
      dataset={dataset}
      listed={found.data}
      isCurrent={!found.isPlaceholderData}
      onEdit={() => setEdited({ item: chosen, listed: found.data as ListedItem })}
    >
      {viewer}
    </Changeable>
  ) : (
    viewer
  );
}

function Changeable(props: {
  readonly dataset: Dataset;
  readonly listed: ListedItem;
  /** Whether the item belongs to the dataset, and is not shown only until that is read. */
  readonly isCurrent: boolean;
  readonly onEdit: () => void;
  readonly children: React.ReactNode;
}) {
  const { dataset, listed, isCurrent, onEdit, children } = props;
  const [isRemoving, setRemoving] = useState(false);
  useHotkeys([['e', () => isCurrent && onEdit()]]);
  const acts = [
    ['Edit item', 'pencil', onEdit],
    ['Remove item', 'trash', () => setRemoving(true)],
  ] as const;
  return (
    <>
      <Group gap="xs" px="md" pt="sm">
        {acts.map(([label, icon, act]) => (
          <SmallButton
            key={label}
            label={label}
            size="compact-xs"
            disabled={!isCurrent}
            leftSection={<Icon name={icon} size={14} />}
            onClick={act}
          />
        ))}
      </Group>
      {children}
      {isRemoving && (
        <RemoveItems
          dataset={dataset}
          items={[listed]}
          position={positionIn(dataset, listed)}
          onClose={() => setRemoving(false)}
        />
      )}
    </>
  );
}

/** Versions in which an item is looked for at most: the newest; earlier ones than the shown one come first. */
const MAX_LOOKED = 100;
const AT_A_TIME = 6;

function GoneItem({ dataset, hash }: { readonly dataset: Dataset; readonly hash: string }) {
  const before = useBefore(dataset, hash);
  const now = useCurrentItem(dataset, before.data?.listed);
  if (before.data === null)
    return (
      <Text p="md" size="sm">
        No version of the dataset that was looked at has this item.
      </Text>
    );
  if (before.data === undefined || now.data === undefined)
    return <QueryState query={before.data === undefined ? before : now} rows={3} />;
  const { listed, version, next } = before.data;
  const id = getMember((listed.item ?? {}) as JsonObject, 'id') ?? null;
  const linkTo = (text: string, search: { readonly item: string; readonly version: string }) => (
    <LinkAnchor to="/datasets/$id" params={{ id: dataset.id }} search={search} size="sm">
      {text}
    </LinkAnchor>
  );
  const shown = String(dataset.version);
  return (
    <Stack gap="xs" p="md" role="status">
      <Text size="sm">
        {version > dataset.version
          ? `This version does not have the item yet: version ${version} has it.`
          : now.data !== null
            ? `The item was changed in version ${next}.`
            : id === null
              ? `The item was changed or removed in version ${next}; it has no id that would tell which.`
              : `The item was removed in version ${next}.`}
      </Text>
      <Group gap="md">
        {now.data !== null &&
          linkTo(`${plainText(id, 60)} in version ${shown}`, { item: now.data.item_hash, version: shown })}
        {linkTo(`The item in version ${version}`, { item: hash, version: String(version) })}
      </Group>
    </Stack>
  );
}

/** The item in the version nearest to the shown one that has it, and the version after that; null if none has it. */
function useBefore({ id, version }: Dataset, hash: string) {
  return useQuery({
    queryKey: ['item-before', { id, version }, hash],
    queryFn: async ({ signal }) => {
      const query = { limit: MAX_LOOKED };
      const { data } = await get('/datasets/{id}/versions', { path: { id }, query }, signal);
      const versions = data.map((one) => one.version);
      const nearest = [
        ...versions.filter((one) => one < version),
        ...versions.filter((one) => one > version).reverse(),
      ];
      for (let from = 0; from < nearest.length; from += AT_A_TIME) {
        const some = nearest.slice(from, from + AT_A_TIME);
        const found = await Promise.all(some.map((one) => readItem({ id, version: one }, hash, signal)));
        const at = found.findIndex((one) => one !== null);
        const [item, of] = [found[at], some[at]];
        if (item == null || of === undefined) continue;
        return { listed: item, version: of, next: versions[versions.indexOf(of) - 1] ?? of };
      }
      return null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
