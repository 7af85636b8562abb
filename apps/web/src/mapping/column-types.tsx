import { Group, Input, Select, Stack } from '@mantine/core';
import { COLUMN_TYPES } from './mapping-fields.ts';

/** States the types of columns: a column is chosen, then its type. */
export function ColumnTypes({
  label,
  description,
  columns,
  value,
  onChange,
}: {
  readonly label: string;
  readonly description: string;
  readonly size: 'xs';
  readonly columns: readonly string[];
  /** Column → type. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const types = (value ?? {}) as Readonly<Record<string, string>>;
  const stated = Object.entries(types);
  const free = columns.filter((column) => !Object.hasOwn(types, column));
  const without = (name: string): object => Object.fromEntries(stated.filter(([column]) => column !== name));
  return (
    <Input.Wrapper label={label} description={description} size="xs" labelElement="div">
      <Stack gap={4} mt={4}>
        {stated.map(([column, type]) => (
          <Group key={column} gap={4} grow wrap="nowrap" preventGrowOverflow={false}>
            <span className="ellipsis">{column}</span>
            <Select
              size="xs"
              aria-label={`Type of ${column}`}
              data={[...COLUMN_TYPES]}
              value={type}
              onChange={(next) => onChange(next === null ? without(column) : { ...types, [column]: next })}
              clearable
            />
          </Group>
        ))}
        <Select
          size="xs"
          aria-label="Column with another type"
          placeholder="Choose a column"
          searchable
          value={null}
          data={free}
          onChange={(column) => column !== null && onChange({ ...types, [column]: 'string' })}
        />
      </Stack>
    </Input.Wrapper>
  );
}
