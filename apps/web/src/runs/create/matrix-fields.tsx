import { Button, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { Fields } from '../../ui/form/fields.tsx';
import { SmallButton } from '../../ui/small-button.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { asksModel, MAX_RUNS } from './matrix.ts';
import { FURTHER_MODELS } from './run-fields.ts';
import type { RunForm } from './run-form.ts';

/** Further models: each runs with each prompt template. */
export function MatrixFields({
  form,
  models,
}: {
  readonly form: UseFormReturnType<RunForm>;
  /** Names to suggest. */
  readonly models: readonly string[];
}) {
  return (
    <Stack gap="sm">
      <Dimmed>
        Every model runs with every template, at most {MAX_RUNS} runs. Everything else is the same.
      </Dimmed>
      {asksModel(form.values) && (
        <Fields
          form={form}
          fields={FURTHER_MODELS.map((field) => ({
            ...field,
            data: models.filter((name) => name !== form.values.model.model),
          }))}
        />
      )}
    </Stack>
  );
}

/** Further prompt templates. The first of them is tried beside that of the form. */
export function Variants({ form }: { readonly form: UseFormReturnType<RunForm> }) {
  return (
    <>
      {form.values.promptTemplates.map((_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: templates have no other name
        <Stack key={at} gap={4}>
          <Fields
            form={form}
            fields={[{ name: `promptTemplates.${at}`, label: `Prompt template ${at + 2}`, kind: 'lines' }]}
          />
          <Button
            variant="subtle"
            size="compact-xs"
            w="fit-content"
            onClick={() => form.removeListItem('promptTemplates', at)}
          >
            Remove prompt template {at + 2}
          </Button>
        </Stack>
      ))}
      <SmallButton
        w="fit-content"
        leftSection={<IconPlus size={14} />}
        onClick={() => form.insertListItem('promptTemplates', form.values.promptTemplate || '{prompt}')}
      >
        Add a variant
      </SmallButton>
    </>
  );
}
