import { Badge, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { ErrorView } from '../../ui/error-view.tsx';
import { Panes } from '../../ui/layout/panes.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { ItemId } from '../../ui/text/item-id.tsx';
import { useChangeSearch } from '../../ui/use-change-search.ts';
import { useChosenRow } from '../../ui/use-chosen-row.ts';
import { VirtualList } from '../../ui/virtual-list.tsx';
import type { DatasetSearch } from '../dataset-search.ts';
import { ItemFiltersBar } from './item-filters-bar.tsx';
import { ItemPane } from './item-pane.tsx';
import { type Dataset, positionIn } from './item-windows.ts';
import { useItem } from './use-item.ts';
import { useItems } from './use-items.ts';

const route = getRouteApi('/datasets/$id');

/** The items of a dataset: filters, a list of any length next to the open item. */
export function ItemsTab({
  dataset,
  isNewest,
}: {
  readonly dataset: Dataset;
  /** Whether this version can be changed. */
  readonly isNewest: boolean;
}) {
  const { section, type, tag, q, item } = route.useSearch();
  const change = useChangeSearch<DatasetSearch>(route);
  const items = useItems(dataset, { section, type, tag, q });
  // an address names an item that may be anywhere in the list
  const isFar = item !== undefined && items.indexOf(item) === undefined;
  const { data: far } = useItem(dataset, isFar ? item : undefined);
  const farPosition = far ? positionIn(dataset, far) : undefined;
  const { selected, select } = useChosenRow({
    keyAt: (index) => items.at(index)?.hash,
    indexOf: (chosen) => {
      const index = items.indexOf(chosen);
      if (index !== undefined || farPosition === undefined || far?.item_hash !== chosen) return index;
      return items.indexOf(farPosition);
    },
    chosen: item,
    onChoose: (hash) => change({ item: hash }, { replace: item !== undefined }),
  });
  return (
    <Stack gap="sm">
      <ItemFiltersBar dataset={dataset} total={items.total} />
      {items.error !== null && <ErrorView error={items.error} />}
      <Panes
        label="Item"
        isOpen={item !== undefined}
        onClose={() => change({ item: undefined })}
        list={
          items.total === 0 ? (
            <Dimmed p="md">No items match.</Dimmed>
          ) : (
            <VirtualList
              key={JSON.stringify([dataset.version, section, type, tag, q])}
              label="Items"
              total={items.total ?? 0}
              selected={selected}
              onSelect={select}
              onRange={items.onRange}
              columns="112px minmax(0, 1fr) auto"
              renderRow={(index) => <Row index={index} items={items} />}
            />
          )
        }
        entry={
          item === undefined ? (
            <Dimmed p="md">Choose an item from the list. The arrow keys move through it.</Dimmed>
          ) : (
            <ItemPane
              dataset={dataset}
              item={item}
              // of equal items, the one that was chosen
              place={(selected === undefined ? undefined : items.positionOf(selected)) ?? item}
              isNewest={isNewest}
            />
          )
        }
      />
    </Stack>
  );
}

function Row({ index, items }: { readonly index: number; readonly items: ReturnType<typeof useItems> }) {
  const item = items.at(index);
  if (item === undefined) return <span>…</span>;
  return (
    <>
      <Dimmed span size="xs" ff="monospace">
        <ItemId id={item.id || String(index)} />
      </Dimmed>
      <span dir="auto">
        {item.thumbnail !== undefined && (
          <img className="thumbnail" src={item.thumbnail} alt="" loading="lazy" />
        )}
        {item.question}
      </span>
      {item.type === 'freeform' ? (
        <span />
      ) : (
        <Badge size="xs" variant="default">
          {item.type}
        </Badge>
      )}
    </>
  );
}
