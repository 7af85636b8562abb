import { SegmentedControl, Select, Stack, Text } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { SmallButton } from '../../ui/buttons.tsx';
import { type Field, Fields } from '../../ui/form/fields.tsx';
import { Icon } from '../../ui/icons.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { askedBy, type Provider, type Run, useProviders, useRecentRuns } from '../queries.ts';
import { asksModel } from './config-fields.ts';
import type { Config } from './config-values.ts';
import { MAX_RUNS, type RunForm } from './run-form.ts';

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

export function ProviderChoice(props: {
  readonly form: UseFormReturnType<RunForm>;
  readonly fields: readonly Field[];
}) {
  const { form, fields } = props;
  return (
    <Stack gap="xs" role="group" aria-label="Provider">
      <Text size="sm" fw={600}>
        Provider
      </Text>
      <SegmentedControl
        className="wrapping"
        aria-label="Provider"
        {...form.getInputProps('config.provider.type')}
        data={PROVIDERS.map(({ value, label }) => ({ value, label }))}
      />
      <Dimmed size="xs">
        {PROVIDERS.find(({ value }) => value === form.values.config.provider.type)?.hint}
      </Dimmed>
      <ProviderSelect form={form} />
      <Fields form={form} fields={fields} />
    </Stack>
  );
}

/** Providers by name: with keys that the operator configured, and servers of earlier runs. One fills the fields below. */
function ProviderSelect({ form }: { readonly form: UseFormReturnType<RunForm> }) {
  const providers = useProviders().data?.data ?? [];
  const recent = useRecentRuns();
  const { provider } = form.values.config;
  const { type, base_url, api_key_env, model } = provider as typeof provider &
    Readonly<Record<string, string>>;
  if (providers.length === 0 || !asksModel(type)) return null;
  const choose = (key: string | null): void => {
    const chosen = providers.find((one) => keyOf(one) === key);
    if (chosen === undefined) return;
    const { name, origins, models } = chosen;
    const known = valuesOf(recent, type, 'base_url').find((url) => origins.includes(originOf(url)));
    const origin = origins[0] ?? '';
    form.setFieldValue('config.provider', {
      ...provider,
      base_url: known ?? (origin === '' || type === 'anthropic' ? origin : `${origin}/v1`),
      api_key_env: name ?? '',
      model: models.includes(model) ? model : (models[0] ?? model),
    });
  };
  const current = providers.find(
    ({ name, origins }) => (name ?? '') === api_key_env && origins.includes(originOf(base_url)),
  );
  return (
    <Select
      label="Known provider"
      description="Fills in address, key and model"
      placeholder="Choose one, or fill in the fields"
      searchable
      value={current === undefined ? null : keyOf(current)}
      data={providers.map((one) => ({ value: keyOf(one), label: labelOf(one) }))}
      onChange={choose}
    />
  );
}

/** The origin of an address; empty for what is none. */
const originOf = (url: unknown): string => (URL.canParse(String(url)) ? new URL(String(url)).origin : '');

const keyOf = ({ name, origins }: Provider): string => name ?? origins.join(' ');

/** `OPENAI (https://api.openai.com)` */
function labelOf({ name, origins }: Provider): string {
  const [first = ''] = origins;
  if (name === null) return `${first}, without a key`;
  return `${name.replace(/^SVC_PROVIDER_/, '')} (${first}${origins.length > 1 ? ' …' : ''})`;
}

const valuesOf = (
  runs: readonly Run[],
  type: string,
  name: 'base_url' | 'model' | 'api_key_env',
): readonly string[] => [
  ...new Set(
    runs
      .map(askedBy)
      .filter((asked) => asked.type === type)
      .flatMap((asked) => asked[name] ?? []),
  ),
];

/** The same for the fields of a model, with the providers that are configured, and models that only they have named. */
export function useModelSuggestions(
  path: 'provider' | 'judge',
  { type, base_url, api_key_env }: Config,
): Readonly<Record<string, readonly string[]>> {
  const runs = useRecentRuns();
  const providers = useProviders().data?.data ?? [];
  const asked = providers.filter(
    ({ name, origins }) => (name !== null && name === api_key_env) || origins.includes(originOf(base_url)),
  );
  const known = (name: 'base_url' | 'model' | 'api_key_env') => valuesOf(runs, String(type), name);
  return {
    [`${path}.base_url`]: known('base_url'),
    [`${path}.model`]: [...new Set([...asked.flatMap(({ models }) => models), ...known('model')])],
    [`${path}.api_key_env`]: [
      ...new Set([...providers.flatMap(({ name }) => name ?? []), ...known('api_key_env')]),
    ],
  };
}

export const FURTHER_MODELS: Field = {
  ...{ name: 'models', label: 'Further models', kind: 'tags' },
  description: 'Of the same provider. Press Enter after each.',
};

export function MatrixFields(props: {
  readonly form: UseFormReturnType<RunForm>;
  readonly models: readonly string[];
}) {
  const { form, models } = props;
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
