import { Button, CloseButton, Group, Text } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useCan } from '../../session/session.tsx';
import { IconPencil, IconTrash } from '../../ui/icons.tsx';
import { isShown } from '../../ui/is-shown.ts';
import { QueryState } from '../../ui/query-state.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { isItemHash } from '../dataset-search.ts';
import { itemQuery } from '../queries.ts';
import { ItemEditor } from './edit/item-editor.tsx';
import { RemoveItems } from './edit/remove-item.tsx';
import { GoneItem } from './gone-item.tsx';
import { ItemViewer } from './item-viewer.tsx';
import { type Dataset, type ListedItem, positionIn } from './item-windows.ts';

/** Reads the item at a place, a position or a hash, and shows it. Items of the newest version can be changed. */
export function ItemPane({
  onClose,
  ...item
}: Parameters<typeof ItemContent>[0] & { readonly onClose: () => void }) {
  return (
    <>
      <CloseButton
        className="wide-only"
        aria-label="Close the item"
        m="xs"
        style={{ float: 'inline-end' }}
        onClick={onClose}
      />
      <ItemContent {...item} />
    </>
  );
}

function ItemContent({
  dataset,
  item: chosen,
  place,
  isNewest,
}: {
  readonly dataset: Dataset;
  /** What the address names. */
  readonly item: string;
  readonly place: string;
  readonly isNewest: boolean;
}) {
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

/** An item with what can be done with it. */
function Changeable({
  dataset,
  listed,
  isCurrent,
  onEdit,
  children,
}: {
  readonly dataset: Dataset;
  readonly listed: ListedItem;
  /** Whether the item belongs to the dataset, and is not shown only until that is read. */
  readonly isCurrent: boolean;
  readonly onEdit: () => void;
  readonly children: React.ReactNode;
}) {
  const [isRemoving, setRemoving] = useState(false);
  useHotkeys([['e', () => isCurrent && onEdit()]]);
  return (
    <>
      <Group gap="xs" px="md" pt="sm">
        <Button
          size="compact-xs"
          variant="default"
          disabled={!isCurrent}
          leftSection={<IconPencil size={14} />}
          onClick={onEdit}
        >
          Edit item
        </Button>
        <Button
          size="compact-xs"
          variant="default"
          disabled={!isCurrent}
          leftSection={<IconTrash size={14} />}
          onClick={() => setRemoving(true)}
        >
          Remove item
        </Button>
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
