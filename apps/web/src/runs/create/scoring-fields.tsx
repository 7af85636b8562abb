import { Checkbox, Group, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { CHECKERS, type RunForm } from './run-form.ts';

/** How outputs are scored, how fast requests go, and what they cost. */
export function ScoringFields({
  form,
  onChange,
}: {
  readonly form: RunForm;
  readonly onChange: (changes: Partial<RunForm>) => void;
}) {
  return (
    <Stack gap="sm">
      <Select
        label="Checker"
        description="For items without one"
        placeholder="By the type of the item"
        clearable
        value={form.checker}
        onChange={(checker) => onChange({ checker })}
        data={CHECKERS}
      />
      {form.checker === 'regex' && (
        <TextInput
          label="Pattern"
          value={form.pattern}
          onChange={(event) => onChange({ pattern: event.currentTarget.value })}
        />
      )}
      {form.checker === 'numeric' && (
        <NumberInput
          label="Tolerance"
          min={0}
          value={form.tolerance}
          onChange={(tolerance) => onChange({ tolerance })}
        />
      )}
      {form.checker !== null && (
        <Checkbox
          label="Use it for items with a checker too"
          checked={form.isOverride}
          onChange={(event) => onChange({ isOverride: event.currentTarget.checked })}
        />
      )}
      <Group grow>
        <NumberInput
          label="Repetitions"
          min={1}
          max={100}
          allowDecimal={false}
          value={form.repetitions}
          onChange={(repetitions) => onChange({ repetitions })}
        />
        <NumberInput
          label="Items at once"
          min={1}
          max={256}
          allowDecimal={false}
          value={form.concurrency}
          onChange={(concurrency) => onChange({ concurrency })}
        />
        <NumberInput
          label="Requests per minute"
          min={1}
          allowDecimal={false}
          value={form.requestsPerMinute}
          onChange={(requestsPerMinute) => onChange({ requestsPerMinute })}
        />
      </Group>
      <Group grow>
        <NumberInput
          label="Price of a million input tokens"
          min={0}
          value={form.inputPrice}
          onChange={(inputPrice) => onChange({ inputPrice })}
        />
        <NumberInput
          label="of a million output tokens"
          min={0}
          value={form.outputPrice}
          onChange={(outputPrice) => onChange({ outputPrice })}
        />
        <TextInput
          label="Currency"
          maxLength={3}
          value={form.currency}
          onChange={(event) => onChange({ currency: event.currentTarget.value.toUpperCase() })}
        />
      </Group>
    </Stack>
  );
}
