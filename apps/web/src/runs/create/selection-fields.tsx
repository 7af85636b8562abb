import { Group, NumberInput, Stack, TagsInput, Textarea } from '@mantine/core';
import type { RunForm } from './run-form.ts';

const LISTS = [
  ['sections', 'Sections'],
  ['types', 'Types'],
  ['tags', 'Tags'],
  ['itemIds', 'Ids of items'],
] as const;

/** Which items of the dataset run, and with which prompts. */
export function SelectionFields({
  form,
  onChange,
}: {
  readonly form: RunForm;
  readonly onChange: (changes: Partial<RunForm>) => void;
}) {
  return (
    <Stack gap="sm">
      <Group grow>
        <NumberInput
          label="First items"
          description="By default all"
          min={1}
          allowDecimal={false}
          value={form.limit}
          onChange={(limit) => onChange({ limit })}
        />
        <NumberInput
          label="Random sample"
          description="So many of them"
          min={1}
          allowDecimal={false}
          value={form.sampleSize}
          onChange={(sampleSize) => onChange({ sampleSize })}
        />
        <NumberInput
          label="Seed of the sample"
          description="The same seed, the same items"
          placeholder="0"
          allowDecimal={false}
          value={form.seed}
          onChange={(seed) => onChange({ seed })}
        />
      </Group>
      {LISTS.map(([name, label]) => (
        <TagsInput
          key={name}
          label={label}
          description="By default all"
          value={[...form[name]]}
          onChange={(values) => onChange({ [name]: values })}
        />
      ))}
      <Textarea
        label="System prompt"
        description="Replaces that of every item"
        autosize
        minRows={2}
        maxRows={8}
        value={form.systemPrompt}
        onChange={(event) => onChange({ systemPrompt: event.currentTarget.value })}
      />
      <Textarea
        label="Prompt template"
        description="With {prompt}, {choices} and {meta.key}"
        autosize
        minRows={2}
        maxRows={8}
        value={form.promptTemplate}
        onChange={(event) => onChange({ promptTemplate: event.currentTarget.value })}
      />
    </Stack>
  );
}
