import { Select, type SelectProps } from '@mantine/core';
import { useDataset } from '../use-dataset.ts';
import { useVersions } from './use-versions.ts';

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
  const newest = useDataset(id).data;
  const chosen = useDataset(value === null ? null : id, value ?? undefined).data ?? newest;
  const hasSeveral = newest !== undefined && newest.version_count > 1;
  const versions = useVersions(hasSeveral ? newest.id : null);
  if (!hasSeveral || chosen === undefined) return null;
  const listed = versions.data?.pages.flatMap(({ data }) => data) ?? [];
  const shown = listed.some(({ version }) => version === chosen.version)
    ? listed
    : [...listed, { version: chosen.version, message: null }];
  return (
    <Select
      {...rest}
      searchable
      comboboxProps={{ width: 320, position: 'bottom-start' }}
      value={String(chosen.version)}
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
