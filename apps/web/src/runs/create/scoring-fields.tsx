import { Checkbox, Stack } from '@mantine/core';
import { CheckerFields } from './checker-fields.tsx';
import { JudgeFields } from './judge-fields.tsx';
import type { RunForm } from './run-form.ts';

/** How outputs are scored: by a checker, or by another model. */
export function ScoringFields({
  form,
  onChange,
}: {
  readonly form: RunForm;
  readonly onChange: (changes: Partial<RunForm>) => void;
}) {
  return (
    <Stack gap="sm">
      <CheckerFields
        form={form.checker}
        description="For items without one"
        onChange={(checker) => onChange({ checker })}
      />
      {form.checker.checker !== null && (
        <Checkbox
          label="Use it for items with a checker too"
          checked={form.isOverride}
          onChange={(event) => onChange({ isOverride: event.currentTarget.checked })}
        />
      )}
      <JudgeFields form={form.judge} currency={form.currency} onChange={(judge) => onChange({ judge })} />
      <Checkbox
        label="Run even if no item can be scored"
        checked={form.allowsUnscored}
        onChange={(event) => onChange({ allowsUnscored: event.currentTarget.checked })}
      />
    </Stack>
  );
}
