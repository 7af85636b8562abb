import { Button, Collapse, MultiSelect, Select, SimpleGrid, Stack, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { ITEM_TYPES, MAPPING_FIELDS, type MappingDraft, type MappingField } from './mapping-fields.ts';

/** Why the suggestion has a key, by key. */
export type Reasons = Readonly<Record<string, string>>;

/** Chooses which column becomes which part of an item. */
export function MappingEditor({
  columns,
  mapping,
  reasons,
  onChange,
}: {
  readonly columns: readonly string[];
  readonly mapping: MappingDraft;
  readonly reasons: Reasons;
  readonly onChange: (mapping: MappingDraft) => void;
}) {
  const [isOpen, more] = useDisclosure(false);
  const isStated = ({ key }: MappingField): boolean => mapping[key] !== undefined && mapping[key] !== null;
  const common = MAPPING_FIELDS.filter((field) => field.isRare !== true || isStated(field));
  const rare = MAPPING_FIELDS.filter((field) => !common.includes(field));
  const fieldsOf = (fields: readonly MappingField[]) => (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
      {fields.map((field) => (
        <Field
          key={field.key}
          field={field}
          columns={columns}
          value={mapping[field.key]}
          reason={reasons[field.key]}
          onChange={(value) => onChange({ ...mapping, [field.key]: value })}
        />
      ))}
    </SimpleGrid>
  );
  return (
    <Stack gap="xs" role="group" aria-label="Mapping">
      {fieldsOf(common)}
      <Button
        variant="subtle"
        size="compact-sm"
        px={0}
        w="fit-content"
        onClick={more.toggle}
        aria-expanded={isOpen}
      >
        {isOpen ? 'Fewer fields' : 'More fields'}
      </Button>
      <Collapse expanded={isOpen} transitionDuration={0}>
        {isOpen && fieldsOf(rare)}
      </Collapse>
    </Stack>
  );
}

function Field({
  field: { label, hint, kind, values = [] },
  columns,
  value,
  reason,
  onChange,
}: {
  readonly field: MappingField;
  readonly columns: readonly string[];
  readonly value: unknown;
  readonly reason: string | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const common = {
    label,
    description: reason === undefined ? hint : `Suggested: ${reason}`,
    size: 'xs',
  } as const;
  const text = typeof value === 'string' ? value : null;
  switch (kind) {
    case 'columns':
      return (
        <MultiSelect
          {...common}
          data={[...columns]}
          value={Array.isArray(value) ? value.map(String) : Object.keys((value as object | undefined) ?? {})}
          onChange={onChange}
          searchable
          clearable
        />
      );
    case 'text':
      return (
        <TextInput
          {...common}
          value={text ?? ''}
          onChange={(event) => onChange(event.currentTarget.value || undefined)}
        />
      );
    default: {
      const data = kind === 'column' ? [...columns] : kind === 'type' ? [...ITEM_TYPES] : [...values];
      return (
        <Select
          {...common}
          data={text === null || data.includes(text) ? data : [...data, text]}
          value={text}
          onChange={(next) => onChange(next ?? undefined)}
          searchable={kind === 'column'}
          clearable
        />
      );
    }
  }
}
