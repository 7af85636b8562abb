import { Button, Collapse, Group, NumberInput, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { ModelForm, ModelType } from './model-form.ts';
import { readObject, readPairs } from './model-texts.ts';

interface ModelFieldsProps {
  readonly type: ModelType;
  readonly form: ModelForm;
  readonly onChange: (changes: Partial<ModelForm>) => void;
}

/** Where a model is, and how it is asked. Keys stay on the workers: the form asks for the name of their variable. */
export function ModelFields({ type, form, onChange }: ModelFieldsProps) {
  const [isWanted, more] = useDisclosure(false);
  // what speaks against the form stays in view
  const isOpen = isWanted || Object.values(problemsOf(type, form)).some((problem) => problem !== null);
  return (
    <>
      <TextInput
        label="Base URL"
        placeholder={type === 'anthropic' ? 'https://api.anthropic.com' : 'http://127.0.0.1:8000/v1'}
        value={form.baseUrl}
        onChange={(event) => onChange({ baseUrl: event.currentTarget.value.trim() })}
        required
      />
      <TextInput
        label="Model"
        value={form.model}
        onChange={(event) => onChange({ model: event.currentTarget.value.trim() })}
        required
      />
      <TextInput
        label="Variable with the key"
        description="The name of an environment variable of the workers, never the key itself"
        placeholder="SVC_PROVIDER_OPENAI"
        value={form.apiKeyEnv}
        onChange={(event) => onChange({ apiKeyEnv: event.currentTarget.value.trim() })}
      />
      <Group grow>
        <NumberInput
          label="Temperature"
          step={0.1}
          min={0}
          value={form.temperature}
          onChange={(temperature) => onChange({ temperature })}
        />
        <NumberInput
          label="Most output tokens"
          min={1}
          allowDecimal={false}
          value={form.maxTokens}
          onChange={(maxTokens) => onChange({ maxTokens })}
        />
      </Group>
      <Button
        variant="subtle"
        size="compact-sm"
        px={0}
        w="fit-content"
        onClick={more.toggle}
        aria-expanded={isOpen}
      >
        {isOpen ? 'Fewer parameters' : 'More parameters'}
      </Button>
      <Collapse expanded={isOpen} transitionDuration={0}>
        {isOpen && <RareFields type={type} form={form} onChange={onChange} />}
      </Collapse>
    </>
  );
}

function RareFields({ type, form, onChange }: ModelFieldsProps) {
  const problems = problemsOf(type, form);
  const lines = { autosize: true, minRows: 1, maxRows: 8 } as const;
  return (
    <Stack gap="xs">
      <Textarea
        {...lines}
        label="Parameters"
        description="Further members of the request, as a JSON object"
        placeholder='{"top_p": 0.9}'
        value={form.params}
        onChange={(event) => onChange({ params: event.currentTarget.value })}
        error={problems.params}
      />
      {type === 'openai_compatible' && (
        <>
          <Select
            label="How the key is sent"
            allowDeselect={false}
            value={form.auth}
            onChange={(auth) => onChange({ auth: auth === 'api-key' ? auth : 'bearer' })}
            data={[
              { value: 'bearer', label: 'Authorization: Bearer' },
              { value: 'api-key', label: 'api-key' },
            ]}
          />
          <Textarea
            {...lines}
            label="Query parameters"
            description="One on each line"
            placeholder="api-version=2024-10-21"
            value={form.query}
            onChange={(event) => onChange({ query: event.currentTarget.value })}
            error={problems.query}
          />
        </>
      )}
      <Textarea
        {...lines}
        label="Headers"
        description="One on each line; names begin with anthropic-, openai- or x-, and none holds a secret"
        placeholder="x-team: evaluation"
        value={form.headers}
        onChange={(event) => onChange({ headers: event.currentTarget.value })}
        error={problems.headers}
      />
    </Stack>
  );
}

/** What is wrong with the texts of a model; null where nothing is. */
function problemsOf(
  type: ModelType,
  { params, query, headers }: ModelForm,
): Readonly<Record<'params' | 'query' | 'headers', string | null>> {
  return {
    params: readObject(params).problem,
    query: type === 'anthropic' ? null : readPairs(query, '=').problem,
    headers: readPairs(headers, ':').problem,
  };
}
