import { Button, CloseButton, Group, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { ITEM_TYPES } from '../../mapping/mapping-fields.ts';
import { useCan } from '../../session/session.tsx';
import { SmallButton } from '../../ui/buttons.tsx';
import { ChosenFilter, Clearable, FilterPills, metaPills, TypedFilter } from '../../ui/filters.tsx';
import { LeaveDialog } from '../../ui/form/form-dialog.tsx';
import { Panes } from '../../ui/layout/panes.tsx';
import { pointerName } from '../../ui/pointer-of.ts';
import { ErrorView } from '../../ui/query-state.tsx';
import { SavedViews } from '../../ui/saved-views.tsx';
import { ColumnsMenu } from '../../ui/table/columns-menu.tsx';
import { DataTable } from '../../ui/table/data-table.tsx';
import type { ColumnsView } from '../../ui/table/view-columns.ts';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCountOf } from '../../ui/text/formats.ts';
import { useChosenRow } from '../../ui/use-windows.ts';
import { type DatasetSearch, datasetRoute, useChangeDataset } from '../dataset-search.ts';
import type { Overview } from '../overview/read-overview.ts';
import { itemQuery, overviewQuery, useChange } from '../queries.ts';
import { ChangeError } from '../versions/change-dialog.tsx';
import { ChosenItems, changeItems, itemKey } from './edit/chosen-items.tsx';
import { DEFAULT_ITEM_COLUMNS, itemColumns } from './item-columns.tsx';
import { ItemPane } from './item-pane.tsx';
import { type Dataset, type ItemSummary, positionIn, useItems, withTexts } from './item-windows.ts';

export function ItemsTab(props: { readonly dataset: Dataset; readonly isNewest: boolean }) {
  const { dataset, isNewest } = props;
  const search = datasetRoute.useSearch();
  const { item } = search;
  const change = useChangeDataset();
  const items = useItems(dataset, search);
  const canEdit = useCan('editor') && isNewest;
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const cells = useCellEdits(dataset);
  // an address names an item that may be anywhere in the list
  const isFar = item !== undefined && items.indexOf(item) === undefined;
  const { data: far } = useQuery(itemQuery(dataset, isFar ? item : undefined));
  const farPosition = far ? positionIn(dataset, far) : undefined;
  const { selected, select } = useChosenRow({
    keyAt: (index) => items.at(index)?.hash,
    indexOf: (wanted) => {
      const index = items.indexOf(wanted);
      if (index !== undefined || farPosition === undefined || far?.item_hash !== wanted) return index;
      return items.indexOf(farPosition);
    },
    chosen: item,
    onChoose: (hash) => change({ item: hash }, { replace: item !== undefined }),
  });
  const narrow = (changes: DatasetSearch): void => change({ item: undefined, ...changes }, { replace: true });
  const show = (view: ColumnsView): void => change({ ...view }, { replace: true });
  const overview = useQuery(overviewQuery(items.total === undefined ? undefined : dataset)).data;
  const read = items.rows().flatMap(({ values }) => Object.keys(values));
  const pointers = [
    ...new Set([
      ...(search.columns ?? '').split(',').filter((key) => key.startsWith('meta.')),
      ...(overview?.metaKeys ?? []).map((pointer) => `meta.${pointer}`),
      ...read.filter((key) => key.startsWith('meta.')),
    ]),
  ].map((key) => key.slice('meta.'.length));
  const names = JSON.stringify(pointers);
  const { edits } = cells;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the columns depend on the names of the metadata only
  const columns = useMemo(() => itemColumns(pointers, overview, edits, narrow), [names, overview, edits]);
  return (
    <Stack gap={6}>
      <Group gap={6}>
        <ItemFiltersBar dataset={dataset} overview={overview} />
        <ColumnsMenu columns={columns} defaults={DEFAULT_ITEM_COLUMNS} view={search} onView={show} />
        <SavedViews of="items" />
        {canEdit && (
          <SmallButton
            label="Edit cells"
            icon="pencil"
            aria-pressed={edits !== undefined}
            variant={edits === undefined ? 'default' : 'light'}
            onClick={cells.toggle}
          />
        )}
        <Dimmed aria-live="polite">{items.total !== undefined && formatCountOf(items.total, 'item')}</Dimmed>
      </Group>
      {chosen.length > 0 && (
        <ChosenItems dataset={dataset} chosen={chosen} isNewest={canEdit} onDone={() => setChosen([])} />
      )}
      {cells.bar}
      {items.error !== null && <ErrorView error={items.error} onRetry={() => void items.refresh()} />}
      <Panes
        label="Item"
        isOpen={item !== undefined}
        onClose={() => change({ item: undefined })}
        list={
          items.total === 0 ? (
            <Dimmed p="md">No items match.</Dimmed>
          ) : (
            <DataTable
              key={JSON.stringify([dataset.version, items.filters])}
              label="Items"
              columns={columns}
              defaults={DEFAULT_ITEM_COLUMNS}
              view={search}
              onView={show}
              total={items.total ?? 0}
              at={items.at}
              onRange={items.onRange}
              keyOf={itemKey}
              nameOf={({ id, orderIndex }) => id || String(orderIndex)}
              open={selected ?? null}
              onOpen={select}
              {...(canEdit && { chosen, onChoose: setChosen })}
              fills
            />
          )
        }
        entry={
          item !== undefined && (
            <>
              <CloseButton
                className="wide-only"
                aria-label="Close the item"
                m="xs"
                style={{ float: 'inline-end' }}
                onClick={() => change({ item: undefined })}
              />
              <ItemPane
                dataset={dataset}
                item={item}
                // of equal items, the one that was chosen
                place={(selected === undefined ? undefined : items.positionOf(selected)) ?? item}
                isNewest={isNewest}
              />
            </>
          )
        }
      />
    </Stack>
  );
}

/** Texts that were typed into cells, until they are saved together as a version. */
function useCellEdits(dataset: Dataset) {
  const [isEditing, setEditing] = useState(false);
  const [typed, setTyped] = useState<Readonly<Record<string, Readonly<Record<string, string>>>>>({});
  const change = useChange();
  const keys = Object.keys(typed);
  const stop = (): void => {
    setTyped({});
    setEditing(false);
  };
  const save = useMutation({
    mutationFn: () =>
      change(changeItems(dataset, keys, (item, key) => withTexts(item, typed[key] ?? {}), '')),
    onSuccess: stop,
  });
  const edits = useMemo(
    () => ({
      typed: (item: ItemSummary, key: string) => typed[itemKey(item)]?.[key],
      onType: (item: ItemSummary, key: string, text: string) =>
        setTyped((before) => ({
          ...before,
          [itemKey(item)]: { ...before[itemKey(item)], [key]: text },
        })),
    }),
    [typed],
  );
  const bar = keys.length > 0 && (
    <Group gap="xs" role="group" aria-label="Edited items">
      <Button size="xs" loading={save.isPending} onClick={() => save.mutate()}>
        Save {formatCountOf(keys.length, 'item')} as a version
      </Button>
      <Button size="xs" variant="subtle" onClick={stop}>
        Discard
      </Button>
      {save.error !== null && <ChangeError dataset={dataset} error={save.error} />}
      <LeaveDialog
        text="The cells are not saved yet. If you leave the list, what you typed is lost."
        parameters={['tab', 'version']}
        onLeave={stop}
      />
    </Group>
  );
  return { edits: isEditing ? edits : undefined, bar, toggle: () => setEditing(!isEditing) };
}

function ItemFiltersBar(props: { readonly dataset: Dataset; readonly overview: Overview | undefined }) {
  const { dataset, overview } = props;
  const search = datasetRoute.useSearch();
  const changeSearch = useChangeDataset();
  const change = (changes: DatasetSearch): void =>
    changeSearch({ item: undefined, ...changes }, { replace: true });
  const { section, type, tag, q, expected } = search;
  const [pointer, setPointer] = useState<string>();
  const stated = [
    ...(expected === undefined ? [] : [['expected', `answer ${expected}`] as const]),
    ...metaPills(search),
  ];
  const isFiltered = stated.length > 0 || [section, type, tag, q].some((value) => value !== undefined);
  const none = Object.fromEntries(stated.map(([name]) => [name, undefined]));
  const keys = overview?.metaKeys ?? [];
  const key = pointer === undefined ? undefined : (`meta.${pointer}` as const);
  return (
    <Group gap={6} role="search" aria-label="Items" display="contents">
      <Clearable
        isFiltered={isFiltered}
        onClear={() => change({ ...none, section: undefined, type: undefined, tag: undefined, q: undefined })}
      >
        <TypedFilter label="Search items" value={q} onChange={(text) => change({ q: text })} isWide />
        {dataset.section_count > 1 && (
          <ChosenFilter
            label="Section"
            width={120}
            isSearchable
            value={section}
            values={dataset.sections.map(({ name }) => name)}
            onChange={(value) => change({ section: value })}
          />
        )}
        <ChosenFilter
          label="Type"
          width={110}
          value={type}
          values={type === undefined || ITEM_TYPES.includes(type) ? ITEM_TYPES : [...ITEM_TYPES, type]}
          onChange={(value) => change({ type: value })}
        />
        <TypedFilter
          label="Tag"
          value={tag}
          suggestions={[...(overview?.tags.keys() ?? [])]}
          onChange={(text) => change({ tag: text })}
        />
        {keys.length > 0 && (
          <ChosenFilter
            label="Metadata"
            width={120}
            isSearchable
            value={pointer}
            values={keys.map((one) => ({ value: one, label: pointerName(one) }))}
            onChange={setPointer}
          />
        )}
        {key !== undefined && (
          <TypedFilter
            key={key}
            label={`Value of ${pointerName(key.slice('meta.'.length))}`}
            value={search[key]}
            suggestions={[...(overview?.values.get(key)?.keys() ?? [])]}
            onChange={(text) => change({ [key]: text })}
          />
        )}
        <FilterPills stated={stated} onRemove={(name) => change({ [name]: undefined })} />
      </Clearable>
    </Group>
  );
}
