import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiQuery, isRefusal } from '../api/api.ts';
import { formatCountOf } from '../ui/text/formats.ts';
import type { Dataset } from './items/item-windows.ts';
import { datasetQuery, versionsQuery } from './queries.ts';

const TYPING_MS = 300;
const SHOWN = 50;

type Choice = Pick<Dataset, 'id' | 'name' | 'item_count'>;

export function DatasetSelect(
  props: Pick<SelectProps, 'label' | 'aria-label' | 'placeholder' | 'size' | 'w' | 'maw'> & {
    readonly value: string | null;
    readonly without?: string;
    readonly onChange: (id: string | null) => void;
  },
) {
  const { value, without, onChange, ...rest } = props;
  const [typed, setTyped] = useState('');
  const [settled] = useDebouncedValue(typed, TYPING_MS);
  const { data: chosen, error } = useQuery(datasetQuery(value));
  const isGone = isRefusal(error, 404);
  // the field shows the label of what is chosen, which is nothing to search for
  const q = settled === '' || (chosen !== undefined && settled === labelOf(chosen)) ? undefined : settled;
  const found = useQuery({
    ...apiQuery(['datasets', { limit: SHOWN, q }], '/datasets', { query: { limit: SHOWN, q } }),
    placeholderData: keepPreviousData,
  });
  const listed: readonly Choice[] = found.data?.data ?? [];
  const choices = [
    ...listed,
    ...(chosen === undefined || listed.some(({ id }) => id === chosen.id) ? [] : [chosen]),
  ];
  return (
    <Select
      {...rest}
      searchable
      clearable
      // the service has searched already
      filter={({ options }) => options}
      searchValue={typed}
      onSearchChange={setTyped}
      nothingFoundMessage={found.isFetching ? 'Searching…' : 'No dataset has this in its name.'}
      // an address may have a handle
      value={chosen?.id ?? value}
      onChange={onChange}
      error={isGone ? 'This dataset is not here any more. Choose another one.' : undefined}
      data={choices
        .filter(({ id }) => id !== without)
        .map((dataset) => ({ value: dataset.id, label: labelOf(dataset) }))}
    />
  );
}

const labelOf = ({ id, name, item_count }: Choice): string =>
  `${name} (${formatCountOf(item_count, 'item')}, ${id.slice(-4)})`;

/** Chooses a version of a dataset. A dataset with only one has nothing to choose. */
export function VersionSelect(
  props: Pick<SelectProps, 'label' | 'aria-label' | 'size' | 'w' | 'maw'> & {
    readonly id: string | null;
    /** Number or beginning of a hash; null for the newest. */
    readonly value: string | null;
    readonly onChange: (version: string | null) => void;
  },
) {
  const { id, value, onChange, ...rest } = props;
  const newest = useQuery(datasetQuery(id)).data;
  const stated = useQuery(datasetQuery(value === null ? null : id, value ?? undefined));
  const isGone = isRefusal(stated.error, 404);
  const chosen = stated.data ?? newest;
  const hasSeveral = newest !== undefined && newest.version_count > 1;
  const versions = useInfiniteQuery(versionsQuery(hasSeveral ? newest.id : null));
  if (newest === undefined || chosen === undefined || (!hasSeveral && !isGone)) return null;
  const listed = versions.data?.pages.flatMap(({ data }) => data) ?? [];
  const shown = listed.some(({ version }) => version === chosen.version)
    ? listed
    : [...listed, { version: chosen.version, message: null }];
  return (
    <Select
      {...rest}
      searchable
      comboboxProps={{ width: 320, position: 'bottom-start' }}
      value={isGone ? null : String(chosen.version)}
      error={isGone ? 'This version is not here any more. Choose another one.' : undefined}
      onChange={(version) => onChange(Number(version) === newest.version ? null : version)}
      data={shown.map(({ version, message }) => ({
        value: String(version),
        label: `${version}${version === newest.version ? ' (newest)' : ''}`,
        message,
      }))}
      renderOption={({ option }) => {
        const { label, message } = option as typeof option & { readonly message: string | null };
        return (
          <span dir="auto" className="break">
            {message === null ? label : `${label}: ${message}`}
          </span>
        );
      }}
    />
  );
}
