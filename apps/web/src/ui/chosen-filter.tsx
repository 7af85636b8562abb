import { Select } from '@mantine/core';

/** A filter that is one of some values, or none. */
export function ChosenFilter<Value extends string>({
  label,
  value,
  values,
  onChange,
  width = 150,
  isSearchable = false,
  isWithin = false,
}: {
  readonly label: string;
  readonly value: Value | undefined;
  /** With the text of each, where it is not the value itself. */
  readonly values: readonly (Value | { readonly value: Value; readonly label: string })[];
  readonly onChange: (value: Value | undefined) => void;
  /** Pixels. */
  readonly width?: number;
  readonly isSearchable?: boolean;
  /** Whether its list stays within a popover, which a click elsewhere closes. */
  readonly isWithin?: boolean;
}) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      size="xs"
      w={width}
      clearable
      searchable={isSearchable}
      comboboxProps={{ withinPortal: !isWithin }}
      value={value ?? null}
      onChange={(next) => onChange((next as Value | null) ?? undefined)}
      data={values as readonly string[]}
    />
  );
}
