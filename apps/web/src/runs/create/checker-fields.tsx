import { NumberInput, Select, TextInput } from '@mantine/core';
import { CHECKERS, type CheckerForm } from './checker-form.ts';

/** Chooses a checker and its parameters. */
export function CheckerFields({
  form,
  description,
  onChange,
}: {
  readonly form: CheckerForm;
  readonly description: string;
  readonly onChange: (form: CheckerForm) => void;
}) {
  return (
    <>
      <Select
        label="Checker"
        description={description}
        placeholder="By the type of the item"
        clearable
        value={form.checker}
        onChange={(checker) => onChange({ ...form, checker })}
        data={CHECKERS}
      />
      {form.checker === 'regex' && (
        <TextInput
          label="Pattern"
          value={form.pattern}
          onChange={(event) => onChange({ ...form, pattern: event.currentTarget.value })}
          required
        />
      )}
      {form.checker === 'numeric' && (
        <NumberInput
          label="Tolerance"
          min={0}
          value={form.tolerance}
          onChange={(tolerance) => onChange({ ...form, tolerance })}
        />
      )}
    </>
  );
}
