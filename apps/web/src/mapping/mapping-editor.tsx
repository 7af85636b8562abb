import { SimpleGrid, Stack } from '@mantine/core';
import { useState } from 'react';
import { More } from '../ui/form/more.tsx';
import { MappingField } from './mapping-field.tsx';
import { MAPPING_FIELDS, type MappingDraft, type MappingField as MappingKey } from './mapping-fields.ts';

/** Chooses which column becomes which part of an item. */
export function MappingEditor({
  columns,
  mapping,
  reasons,
  onChange,
}: {
  readonly columns: readonly string[];
  readonly mapping: MappingDraft;
  /** Why the suggestion has a key, by key. */
  readonly reasons: Readonly<Record<string, string>>;
  readonly onChange: (mapping: MappingDraft) => void;
}) {
  // a field stays where it is while it is edited
  const [suggested] = useState(mapping);
  const isSuggested = ({ key }: MappingKey): boolean => (suggested[key] ?? null) !== null;
  const common = MAPPING_FIELDS.filter((field) => field.isRare !== true || isSuggested(field));
  const rare = MAPPING_FIELDS.filter((field) => !common.includes(field));
  const fieldsOf = (fields: readonly MappingKey[]) => (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
      {fields.map((field) => (
        <MappingField
          key={field.key}
          field={field}
          columns={columns}
          value={mapping[field.key]}
          reason={reasons[field.key]}
          isRequired={field.key === 'prompt_column' && !mapping.prompt_template}
          onChange={(value) => onChange({ ...mapping, [field.key]: value })}
        />
      ))}
    </SimpleGrid>
  );
  return (
    <Stack gap="xs" role="group" aria-label="Mapping">
      {fieldsOf(common)}
      <More what="fields">{fieldsOf(rare)}</More>
    </Stack>
  );
}
