import { Button, Stack, TagsInput, Textarea } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { asksModel, MAX_RUNS } from './matrix.ts';
import type { RunForm } from './run-form.ts';

/** Further models and prompt templates: a run for each model with each template. */
export function MatrixFields({
  form,
  models,
}: {
  readonly form: UseFormReturnType<RunForm>;
  /** Names to suggest. */
  readonly models: readonly string[];
}) {
  const { promptTemplates } = form.values;
  return (
    <Stack gap="sm">
      <Dimmed>
        Every model runs with every template, at most {MAX_RUNS} runs. Everything else is the same.
      </Dimmed>
      {asksModel(form.values) && (
        <TagsInput
          label="Further models"
          description="Of the same provider. Press Enter after each."
          data={models.filter((name) => name !== form.values.model.model)}
          {...form.getInputProps('models')}
        />
      )}
      {promptTemplates.map((_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: templates have no other name
        <Stack key={at} gap={4}>
          <Textarea
            label={`Prompt template ${at + 2}`}
            autosize
            minRows={2}
            maxRows={8}
            {...form.getInputProps(`promptTemplates.${at}`)}
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
      <Button
        variant="default"
        size="xs"
        w="fit-content"
        leftSection={<IconPlus size={14} />}
        onClick={() => form.insertListItem('promptTemplates', '{prompt}')}
      >
        Add a prompt template
      </Button>
    </Stack>
  );
}
