import { Button, Group, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useCan } from '../../session/session.tsx';
import { isShown } from '../../ui/is-shown.ts';
import { QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { ItemEditor } from './edit/item-editor.tsx';
import { RemoveItem } from './edit/remove-item.tsx';
import { ItemViewer } from './item-viewer.tsx';
import type { Dataset, ListedItem } from './item-windows.ts';
import { useItem } from './use-item.ts';

/** Reads the item at a place, a position or a hash, and shows it. Items of the newest version can be changed. */
export function ItemPane({
  dataset,
  place,
  isNewest,
}: {
  readonly dataset: Dataset;
  readonly place: string;
  readonly isNewest: boolean;
}) {
  const canEdit = useCan('editor') && isNewest;
  const found = useItem(dataset, place);
  if (!isShown(found)) return <QueryState query={found} rows={4} />;
  if (found.data === null)
    return (
      <Dimmed p="md">
        This version of the dataset does not have the item: it may have been changed or removed.
      </Dimmed>
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
  // what is typed stays while the dataset is read again, as long as the item is the same
  return canEdit ? (
    <Changeable key={item_hash} dataset={dataset} listed={found.data} isCurrent={!found.isPlaceholderData}>
      {viewer}
    </Changeable>
  ) : (
    viewer
  );
}

/** An item with what can be done with it, or its editor. */
function Changeable({
  dataset,
  listed,
  isCurrent,
  children,
}: {
  readonly dataset: Dataset;
  readonly listed: ListedItem;
  /** Whether the item is that of the dataset, and not what is shown until that is read. */
  readonly isCurrent: boolean;
  readonly children: React.ReactNode;
}) {
  const [doing, setDoing] = useState<'edit' | 'remove' | null>(null);
  const close = (): void => setDoing(null);
  useHotkeys([['e', () => isCurrent && setDoing('edit')]]);
  if (doing === 'edit') return <ItemEditor dataset={dataset} listed={listed} onClose={close} />;
  return (
    <>
      <Group gap="xs" px="md" pt="sm">
        <Button
          size="compact-xs"
          variant="default"
          disabled={!isCurrent}
          leftSection={<IconPencil size={14} />}
          onClick={() => setDoing('edit')}
        >
          Edit item
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={!isCurrent}
          leftSection={<IconTrash size={14} />}
          onClick={() => setDoing('remove')}
        >
          Remove item
        </Button>
      </Group>
      {children}
      {doing === 'remove' && <RemoveItem dataset={dataset} listed={listed} onClose={close} />}
    </>
  );
}
