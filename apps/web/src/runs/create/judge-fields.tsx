import { Group, NumberInput, Select, Stack, Switch } from '@mantine/core';
import type { JudgeForm } from './judge-form.ts';
import { ModelFields } from './model-fields.tsx';

const PRICES = [
  ['inputPrice', 'Input price of the judge'],
  ['outputPrice', 'Output price of the judge'],
] as const;

/** The model that scores items with criteria, a judge prompt, or the checker `judge`. */
export function JudgeFields({
  form,
  currency,
  onChange,
}: {
  readonly form: JudgeForm;
  /** Of its price. */
  readonly currency: string;
  readonly onChange: (form: JudgeForm) => void;
}) {
  return (
    <Stack gap="xs" role="group" aria-label="Judge">
      <Switch
        label="Let a model judge"
        description="Items with criteria, a judge prompt, or the checker judge"
        checked={form.isUsed}
        onChange={(event) => onChange({ ...form, isUsed: event.currentTarget.checked })}
      />
      {form.isUsed && (
        <>
          <Select
            label="Protocol"
            allowDeselect={false}
            value={form.type}
            onChange={(type) =>
              onChange({ ...form, type: type === 'anthropic' ? type : 'openai_compatible' })
            }
            data={[
              { value: 'openai_compatible', label: 'OpenAI-compatible' },
              { value: 'anthropic', label: 'Anthropic' },
            ]}
          />
          <ModelFields
            type={form.type}
            form={form}
            onChange={(changes) => onChange({ ...form, ...changes })}
          />
          <NumberInput
            label="Lowest score that passes"
            description="Where the judge does not say; by default 0.5"
            min={0}
            max={1}
            step={0.1}
            value={form.threshold}
            onChange={(threshold) => onChange({ ...form, threshold })}
          />
          <Group grow>
            {PRICES.map(([key, label]) => (
              <NumberInput
                key={key}
                label={label}
                description={`For a million tokens, in ${currency}`}
                min={0}
                max={1e9}
                value={form[key]}
                onChange={(price) => onChange({ ...form, [key]: price })}
              />
            ))}
          </Group>
        </>
      )}
    </Stack>
  );
}
