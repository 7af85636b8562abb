import { Group, Input, MultiSelect, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { COLUMN_TYPES, type MappingField as Field } from './mapping-fields.ts';

export function MappingField(props: {
  readonly field: Field;
  readonly columns: readonly string[];
  readonly value: unknown;
  readonly reason: string | undefined;
  readonly isRequired: boolean;
  readonly onChange: (value: unknown) => void;
}) {
  const { columns, value, reason, isRequired, onChange } = props;
  const { label, hint, kind, values } = props.field;
  const common = {
    label,
    description: reason === undefined ? hint : `Suggested: ${reason}`,
    size: 'xs',
  } as const;
  const text = typeof value === 'string' ? value : null;
  switch (kind) {
    case 'columns':
    case 'named-columns':
      return (
        <MultiSelect
          {...common}
          data={[...columns]}
          value={columnsOf(value)}
          onChange={(next) => onChange(kind === 'named-columns' ? namesOf(value, next) : next)}
          searchable
          clearable
        />
      );
    case 'texts':
      return <TagsInput {...common} value={columnsOf(value)} onChange={onChange} clearable />;
    case 'column-types':
      return <ColumnTypes {...common} columns={columns} value={value} onChange={onChange} />;
    case 'text':
      return (
        <TextInput
          {...common}
          value={text ?? ''}
          onChange={(event) => onChange(event.currentTarget.value || undefined)}
        />
      );
    default: {
      const data = kind === 'column' ? [...columns] : [...values];
      return (
        <Select
          {...common}
          data={text === null || data.includes(text) ? data : [...data, text]}
          value={text}
          onChange={(next) => onChange(next ?? undefined)}
          required={isRequired}
          searchable={kind === 'column'}
          clearable
        />
      );
    }
  }
}

/** Columns of a list, or of an object with a name for each. */
function columnsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String);
  return Object.values((value as object | null | undefined) ?? {}).map(String);
}

/** A name for each column: the one that it had, else its own. */
function namesOf(before: unknown, columns: readonly string[]): Readonly<Record<string, string>> {
  const stated = Array.isArray(before) ? [] : Object.entries((before as object | null | undefined) ?? {});
  return Object.fromEntries(
    columns.map((column) => [stated.find(([, one]) => one === column)?.[0] ?? column, column]),
  );
}

function ColumnTypes(props: {
  readonly label: string;
  readonly description: string;
  readonly size: 'xs';
  readonly columns: readonly string[];
  /** Column → type. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const { label, description, columns, value, onChange } = props;
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
