import { SegmentedControl, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Dimmed } from '../../../ui/text/dimmed.ts';
import type { FieldGroups } from '../run-fields.ts';
import type { RunForm } from '../run-form.ts';
import { CommonAndRare } from '../scoring/scoring-fields.tsx';
import { ProviderSelect } from './provider-select.tsx';

const PROVIDERS = [
  {
    value: 'openai_compatible',
    label: 'OpenAI-compatible',
    hint: 'Any server with /chat/completions: a hosted model, or one on this machine.',
  },
  { value: 'anthropic', label: 'Anthropic', hint: 'The Messages API.' },
  {
    value: 'item_field',
    label: 'Answers in the items',
    hint: 'Scores outputs that the items already hold: of the example those of a pretend model, which makes mistakes. With /answer, every item is right: a test of the scoring.',
  },
  { value: 'echo', label: 'Echo', hint: 'Returns the prompt. A trial of a dataset or a deployment.' },
] as const;

/** Which kind of provider is asked, and its fields. */
export function ProviderChoice({
  form,
  fields,
}: {
  readonly form: UseFormReturnType<RunForm>;
  readonly fields: FieldGroups<RunForm>;
}) {
  return (
    <Stack gap="xs" role="group" aria-label="Provider">
      <Text size="sm" fw={600}>
        Provider
      </Text>
      <SegmentedControl
        className="wrapping"
        aria-label="Provider"
        {...form.getInputProps('provider')}
        data={PROVIDERS.map(({ value, label }) => ({ value, label }))}
      />
      <Dimmed size="xs">{PROVIDERS.find(({ value }) => value === form.values.provider)?.hint}</Dimmed>
      <ProviderSelect form={form} />
      <CommonAndRare form={form} fields={fields} />
    </Stack>
  );
}
