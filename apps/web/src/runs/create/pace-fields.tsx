import { NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import type { RunForm } from './run-form.ts';

type NumberField = readonly [
  key:
    | 'repetitions'
    | 'concurrency'
    | 'requestsPerMinute'
    | 'maxRetries'
    | 'timeoutS'
    | 'maxConsecutiveFailures'
    | 'inputPrice'
    | 'outputPrice',
  label: string,
  description: string,
  min: number,
  max: number,
];

const FIELDS: readonly NumberField[] = [
  ['repetitions', 'Repetitions', 'Of each item; by default 1', 1, 100],
  ['concurrency', 'Items at once', 'By default 8', 1, 256],
  ['requestsPerMinute', 'Requests per minute', 'By default no limit', 1, 1_000_000],
  ['maxRetries', 'Retries', 'Of one request; by default 5', 0, 20],
  ['timeoutS', 'Time limit in seconds', 'Of one request; by default 120', 0.1, 3600],
  ['maxConsecutiveFailures', 'Failures in a row', 'That end the run; by default 20', 1, 1_000_000],
  ['inputPrice', 'Price of input', 'For a million tokens', 0, 1e9],
  ['outputPrice', 'Price of output', 'For a million tokens', 0, 1e9],
];

const DECIMALS: readonly string[] = ['timeoutS', 'inputPrice', 'outputPrice'];

/** How often and how fast requests are sent, and what they cost. */
export function PaceFields({
  form,
  onChange,
}: {
  readonly form: RunForm;
  readonly onChange: (changes: Partial<RunForm>) => void;
}) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, lg: 3 }} spacing="sm">
      {FIELDS.map(([key, label, description, min, max]) => (
        <NumberInput
          key={key}
          label={label}
          description={description}
          min={min}
          max={max}
          allowDecimal={DECIMALS.includes(key)}
          value={form[key]}
          onChange={(value) => onChange({ [key]: value })}
        />
      ))}
      <TextInput
        label="Currency"
        description="Of all prices"
        maxLength={3}
        value={form.currency}
        onChange={(event) => onChange({ currency: event.currentTarget.value.toUpperCase() })}
      />
    </SimpleGrid>
  );
}
