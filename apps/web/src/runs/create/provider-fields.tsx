import { SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { ModelFields } from './model-fields.tsx';
import type { RunForm } from './run-form.ts';

const PROVIDERS: readonly { readonly value: RunForm['provider']; readonly label: string }[] = [
  { value: 'openai_compatible', label: 'OpenAI-compatible' },
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'item_field', label: 'Answers in the items' },
  { value: 'echo', label: 'Echo' },
];

const HINTS = {
  openai_compatible: 'Any server with /chat/completions: a hosted model, or one on this machine.',
  anthropic: 'The Messages API.',
  item_field:
    'Scores outputs that the items already hold. With /answer, every item is right: a test of the scoring.',
  echo: 'Returns the prompt. A trial of a dataset or a deployment.',
} as const satisfies Record<RunForm['provider'], string>;

/** Where the outputs come from. */
export function ProviderFields({
  form,
  onChange,
}: {
  readonly form: RunForm;
  readonly onChange: (changes: Partial<RunForm>) => void;
}) {
  const { provider } = form;
  const isModel = provider === 'openai_compatible' || provider === 'anthropic';
  return (
    <Stack gap="xs" role="group" aria-label="Provider">
      <Text size="sm" fw={500}>
        Provider
      </Text>
      <SegmentedControl
        className="wrapping"
        aria-label="Provider"
        value={provider}
        onChange={(value) =>
          onChange({ provider: PROVIDERS.find((one) => one.value === value)?.value ?? 'echo' })
        }
        data={[...PROVIDERS]}
      />
      <Text size="xs" c="dimmed">
        {HINTS[provider]}
      </Text>
      {isModel && (
        <ModelFields
          type={provider}
          form={form.model}
          onChange={(changes) => onChange({ model: { ...form.model, ...changes } })}
        />
      )}
      {provider === 'item_field' && (
        <TextInput
          label="Pointer"
          description="Where the output is in the item, as a JSON Pointer"
          value={form.pointer}
          onChange={(event) => onChange({ pointer: event.currentTarget.value })}
        />
      )}
    </Stack>
  );
}
