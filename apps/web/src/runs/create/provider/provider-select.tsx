import { Select } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useRecentRuns } from '../../use-runs.ts';
import type { RunForm } from '../run-form.ts';
import { suggestionsOf } from './suggestions-of.ts';
import { type Provider, useProviders } from './use-providers.ts';

/** Providers by name: those with a key that the operator configured, and servers of earlier runs. One fills the fields below. */
export function ProviderSelect({ form }: { readonly form: UseFormReturnType<RunForm> }) {
  const providers = useProviders();
  const recent = useRecentRuns();
  const { provider: type, model } = form.values;
  if (providers.length === 0 || (type !== 'openai_compatible' && type !== 'anthropic')) return null;
  const { baseUrls } = suggestionsOf(recent, type);
  const choose = (key: string | null): void => {
    const chosen = providers.find((one) => keyOf(one) === key);
    if (chosen === undefined) return;
    const { name, origins, models } = chosen;
    const known = baseUrls.find((url) => URL.canParse(url) && origins.includes(new URL(url).origin));
    const origin = origins[0] ?? '';
    form.setFieldValue('model', {
      ...model,
      baseUrl: known ?? (origin === '' || type === 'anthropic' ? origin : `${origin}/v1`),
      apiKeyEnv: name ?? '',
      model: models.includes(model.model) ? model.model : (models[0] ?? model.model),
    });
  };
  const current = providers.find(
    ({ name, origins }) =>
      (name ?? '') === model.apiKeyEnv &&
      URL.canParse(model.baseUrl) &&
      origins.includes(new URL(model.baseUrl).origin),
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

const keyOf = ({ name, origins }: Provider): string => name ?? origins.join(' ');

/** `OPENAI (https://api.openai.com)` */
function labelOf({ name, origins }: Provider): string {
  const [first = ''] = origins;
  if (name === null) return `${first}, without a key`;
  return `${name.replace(/^SVC_PROVIDER_/, '')} (${first}${origins.length > 1 ? ' …' : ''})`;
}
