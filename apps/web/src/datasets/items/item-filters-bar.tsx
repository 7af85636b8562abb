import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { ITEM_TYPES } from '../../mapping/mapping-fields.ts';
import { ChosenFilter, Clearable, FilterPills, metaPills, TypedFilter } from '../../ui/filters.tsx';
import { pointerName } from '../../ui/pointer-of.ts';
import { useChangeSearch } from '../../ui/search-params.ts';
import type { DatasetSearch } from '../dataset-search.ts';
import type { Overview } from '../overview/read-overview.ts';
import type { Dataset } from './item-windows.ts';

const route = getRouteApi('/datasets/$id');

/** The filters of a list of items. They are in the address of the page. */
export function ItemFiltersBar({
  dataset,
  overview,
}: {
  readonly dataset: Dataset;
  /** What is in the dataset; undefined until it is read. */
  readonly overview: Overview | undefined;
}) {
  const search = route.useSearch();
  const changeSearch = useChangeSearch<DatasetSearch>(route);
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
