import { Select, type SelectProps } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { isRefusal } from '../../api/api.ts';
import { datasetQuery, versionsQuery } from '../queries.ts';

/** Chooses a version of a dataset. A dataset with only one has nothing to choose. */
export function VersionSelect({
  id,
  value,
  onChange,
  ...rest
}: Pick<SelectProps, 'label' | 'aria-label' | 'size' | 'w' | 'maw'> & {
  /** Id or handle. */
  readonly id: string | null;
  /** Number or beginning of a hash; null for the newest. */
  readonly value: string | null;
  /** Receives null for the newest. */
  readonly onChange: (version: string | null) => void;
}) {
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
