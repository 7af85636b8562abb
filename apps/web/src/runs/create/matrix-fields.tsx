import { Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { SmallButton } from '../../ui/buttons.tsx';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { asksModel } from './config-fields.ts';
import { MAX_RUNS, type RunForm } from './run-form.ts';

/** Models besides the one in the form. */
export const FURTHER_MODELS: Field = {
  ...{ name: 'models', label: 'Further models', kind: 'tags' },
  description: 'Of the same provider. Press Enter after each.',
};

/** Further models: each runs with each prompt template. */
export function MatrixFields({
  form,
  models,
}: {
  readonly form: UseFormReturnType<RunForm>;
  /** Names to suggest. */
  readonly models: readonly string[];
}) {
  const { provider } = form.values.config;
  return (
    <Stack gap="sm">
      <Dimmed>
        Every model runs with every template, at most {MAX_RUNS} runs. Everything else is the same.
      </Dimmed>
      {asksModel(provider.type) && (
        <Fields
          form={form}
          fields={[{ ...FURTHER_MODELS, data: models.filter((name) => name !== provider.model) }]}
        />
      )}
    </Stack>
  );
}

/** Further prompt templates. The first one is tried beside the template of the form. */
export function Variants({ form }: { readonly form: UseFormReturnType<RunForm> }) {
  return (
    <>
      {form.values.templates.map((_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: templates have no other name
        <Stack key={at} gap={4}>
          <Fields
            form={form}
            fields={[{ name: `templates.${at}`, label: `Prompt template ${at + 2}`, kind: 'lines' }]}
          />
          <SmallButton
            label={`Remove prompt template ${at + 2}`}
            variant="subtle"
            size="compact-xs"
            w="fit-content"
            onClick={() => form.removeListItem('templates', at)}
          />
        </Stack>
      ))}
      <SmallButton
        label="Add a variant"
        w="fit-content"
        leftSection={<Icon name="plus" size={14} />}
        onClick={() =>
          form.insertListItem('templates', String(form.values.config['prompt_template'] ?? '') || '{prompt}')
        }
      />
    </>
  );
}
