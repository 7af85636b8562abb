import { Group } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { ITEM_TYPES } from '../../mapping/mapping-fields.ts';
import { ChosenFilter } from '../../ui/chosen-filter.tsx';
import { Clearable } from '../../ui/clearable.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCountOf } from '../../ui/text/formats.ts';
import { TypedFilter } from '../../ui/typed-filter.tsx';
import { useChangeSearch } from '../../ui/use-change-search.ts';
import type { DatasetSearch } from '../dataset-search.ts';
import { useOverview } from '../overview/use-overview.ts';
import type { Dataset } from './item-windows.ts';

const route = getRouteApi('/datasets/$id');

/** The filters of a list of items. They are in the address of the page. */
export function ItemFiltersBar({
  dataset,
  total,
}: {
  readonly dataset: Dataset;
  readonly total: number | undefined;
}) {
  const search = route.useSearch();
  const changeSearch = useChangeSearch<DatasetSearch>(route);
  const change = (changes: DatasetSearch): void =>
    changeSearch({ item: undefined, ...changes }, { replace: true });
  const { section, type, tag, q } = search;
  const [isAsked, setAsked] = useState(false);
  const found = useOverview(isAsked ? dataset : undefined);
  const tags = [...(found.data?.tags.keys() ?? [])];
  const isFiltered = [section, type, tag, q].some((value) => value !== undefined);
  return (
    <Group gap="xs" role="search" aria-label="Items">
      <Clearable
        isFiltered={isFiltered}
        onClear={() => change({ section: undefined, type: undefined, tag: undefined, q: undefined })}
      >
        <TypedFilter label="Search items" value={q} onChange={(text) => change({ q: text })} isWide />
        {dataset.section_count > 1 && (
          <ChosenFilter
            label="Section"
            width={160}
            isSearchable
            value={section}
            values={dataset.sections.map(({ name }) => name)}
            onChange={(value) => change({ section: value })}
          />
        )}
        <ChosenFilter
          label="Type"
          value={type}
          values={type === undefined || ITEM_TYPES.includes(type) ? ITEM_TYPES : [...ITEM_TYPES, type]}
          onChange={(value) => change({ type: value })}
        />
        <TypedFilter
          label="Tag"
          value={tag}
          suggestions={tags}
          onFocus={() => setAsked(true)}
          onChange={(text) => change({ tag: text })}
        />
      </Clearable>
      <Dimmed aria-live="polite">{total !== undefined && formatCountOf(total, 'item')}</Dimmed>
    </Group>
  );
}
