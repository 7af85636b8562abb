import type { Field } from '../../ui/form/fields.tsx';
import type { ModelType, RunForm, ScoringForm } from './run-form.ts';
import { CHECKER_CHOICES, optionFields } from './scoring/checker-form.ts';

/** Values that recent runs have, offered for the fields of a model. */
export interface ModelSuggestions {
  readonly baseUrls: readonly string[];
  readonly models: readonly string[];
  readonly keyNames: readonly string[];
  /** Where items may hold outputs. */
  readonly pointers: readonly string[];
}

const NO_SUGGESTIONS: ModelSuggestions = { baseUrls: [], models: [], keyNames: [], pointers: [] };

/** Fields; the rare ones are shown on request. */
export interface FieldGroups<Values = unknown> {
  readonly common: readonly Field<Values>[];
  readonly rare: readonly Field<Values>[];
}

const PRICE = { kind: 'decimal', min: 0, max: 1e9 } as const;

/** Where a model is. Keys stay on the workers: the form asks for the name of their variable. */
const modelFields = (
  path: 'model' | 'judge',
  pointer: string,
  type: ModelType,
  { baseUrls, models, keyNames }: ModelSuggestions = NO_SUGGESTIONS,
): readonly Field[] => [
  {
    name: `${path}.baseUrl`,
    label: 'Base URL',
    placeholder: type === 'anthropic' ? 'https://api.anthropic.com' : 'http://127.0.0.1:8000/v1',
    required: true,
    data: baseUrls,
    pointer: `${pointer}/base_url`,
  },
  { name: `${path}.model`, label: 'Model', required: true, data: models, pointer: `${pointer}/model` },
  {
    name: `${path}.apiKeyEnv`,
    label: 'API key variable',
    description: 'The name of an environment variable of the workers, never the key itself',
    placeholder: 'SVC_PROVIDER_OPENAI',
    data: keyNames,
    pointer: `${pointer}/api_key_env`,
  },
  {
    name: `${path}.temperature`,
    label: 'Temperature',
    kind: 'decimal',
    step: 0.1,
    min: 0,
    pointer: `${pointer}/params/temperature`,
  },
  {
    name: `${path}.maxTokens`,
    label: 'Maximum output tokens',
    kind: 'number',
    min: 1,
    pointer: `${pointer}/params/max_tokens`,
  },
];

/** How a model is asked, where the defaults do not do. */
const rareModelFields = (path: 'model' | 'judge', pointer: string, type: ModelType): readonly Field[] => [
  {
    name: `${path}.params`,
    label: 'Parameters',
    kind: 'lines',
    description: 'Further members of the request, as a JSON object',
    placeholder: '{"top_p": 0.9}',
    pointer: `${pointer}/params`,
  },
  ...(type === 'anthropic'
    ? []
    : ([
        {
          name: `${path}.auth`,
          label: 'How the key is sent',
          kind: 'select',
          data: [
            { value: 'bearer', label: 'Authorization: Bearer' },
            { value: 'api-key', label: 'api-key' },
          ],
        },
        {
          name: `${path}.query`,
          label: 'Query parameters',
          kind: 'lines',
          description: 'One on each line',
          placeholder: 'api-version=2024-10-21',
          pointer: `${pointer}/query`,
        },
      ] as const)),
  {
    name: `${path}.headers`,
    label: 'Headers',
    kind: 'lines',
    description: 'One on each line; names begin with anthropic-, openai- or x-, and none holds a secret',
    placeholder: 'x-team: evaluation',
    pointer: `${pointer}/extra_headers`,
  },
];

/** The fields of the model that a run asks, first the common ones. */
export const providerFields = (
  provider: RunForm['provider'],
  suggestions: ModelSuggestions,
): FieldGroups<RunForm> => {
  if (provider === 'echo') return { common: [], rare: [] };
  if (provider === 'item_field')
    return {
      common: [
        {
          name: 'pointer',
          label: 'Pointer',
          description: 'Where the output is in the item, as a JSON Pointer',
          data: suggestions.pointers,
          pointer: '/config/provider/pointer',
        },
      ],
      rare: [],
    };
  return {
    common: modelFields('model', '/config/provider', provider, suggestions),
    rare: rareModelFields('model', '/config/provider', provider),
  };
};

/** The fields of a judge, first the common ones. */
export const judgeFields = (
  type: ModelType,
  pointer: string,
  currency: string,
  suggestions: ModelSuggestions = NO_SUGGESTIONS,
): FieldGroups => ({
  common: [
    {
      name: 'judge.type',
      label: 'Protocol',
      kind: 'select',
      data: [
        { value: 'openai_compatible', label: 'OpenAI-compatible' },
        { value: 'anthropic', label: 'Anthropic' },
      ],
    },
    ...modelFields('judge', pointer, type, suggestions),
    {
      name: 'judge.threshold',
      label: 'Lowest score that passes',
      kind: 'decimal',
      description: 'Where the judge does not decide; by default 0.5',
      min: 0,
      max: 1,
      step: 0.1,
      pointer: `${pointer}/threshold`,
    },
    {
      ...PRICE,
      name: 'judge.inputPrice',
      label: 'Input price of the judge',
      description: `For a million tokens, in ${currency}`,
    },
    {
      ...PRICE,
      name: 'judge.outputPrice',
      label: 'Output price of the judge',
      description: `For a million tokens, in ${currency}`,
    },
  ],
  rare: rareModelFields('judge', pointer, type),
});

/** The fields of a checker. */
export const checkerFields = (description: string, pointer: string): readonly Field<ScoringForm>[] => [
  {
    name: 'checker.type',
    label: 'Checker',
    kind: 'select',
    description,
    placeholder: 'By the type of the item',
    isOptional: true,
    data: CHECKER_CHOICES,
    pointer,
  },
  ...optionFields<ScoringForm>('checker.options', pointer, ({ checker }) => checker.type),
];

export const OVERRIDE: Field<RunForm> = {
  name: 'isOverride',
  label: 'Use it for items with a checker too',
  kind: 'checkbox',
  isShown: ({ checker }) => checker.type !== null,
};

export const SCORES_REASONING: Field<RunForm> = {
  name: 'scoresReasoning',
  label: 'Score the reasoning too',
  kind: 'checkbox',
  description: 'By default only what follows it in an output, such as after </think>',
};

export const ALLOWS_UNSCORED: Field<RunForm> = {
  name: 'allowsUnscored',
  label: 'Run even if no item can be scored',
  kind: 'checkbox',
};

/** Which items run. */
export const selectionFields = (known: {
  readonly sections: readonly string[];
  readonly types: readonly string[];
  readonly tags: readonly string[];
  readonly ids: readonly string[];
}): readonly Field<RunForm>[] => [
  {
    name: 'limit',
    label: 'First items',
    kind: 'number',
    description: 'By default all',
    min: 1,
    pointer: '/config/select/limit',
  },
  {
    name: 'sampleSize',
    label: 'Random sample',
    kind: 'number',
    description: 'The number of items in it',
    min: 1,
    pointer: '/config/select/sample/n',
  },
  {
    name: 'seed',
    label: 'Seed of the sample',
    kind: 'number',
    description: 'The same seed selects the same items',
    placeholder: '0',
    pointer: '/config/select/sample/seed',
  },
  ...(
    [
      ['sections', 'Sections', known.sections, 'sections'],
      ['types', 'Types', known.types, 'types'],
      ['tags', 'Tags', known.tags, 'tags'],
      ['itemIds', 'Ids of items', known.ids, 'item_ids'],
    ] as const
  ).map(
    ([name, label, data, member]): Field<RunForm> => ({
      name,
      label,
      kind: 'tags',
      description: 'By default all',
      data,
      pointer: `/config/select/${member}`,
    }),
  ),
];

/** Models besides that of the form. */
export const FURTHER_MODELS: readonly Field<RunForm>[] = [
  {
    name: 'models',
    label: 'Further models',
    kind: 'tags',
    description: 'Of the same provider. Press Enter after each.',
  },
];

/** What is asked besides the prompts of the items. */
export const PROMPT_FIELDS: readonly Field<RunForm>[] = [
  {
    name: 'systemPrompt',
    label: 'System prompt',
    kind: 'lines',
    description: 'Replaces that of every item',
    pointer: '/config/system_prompt',
  },
  {
    name: 'promptTemplate',
    label: 'Prompt template',
    kind: 'lines',
    description: 'With {prompt}, {choices} and {meta.key}',
    pointer: '/config/prompt_template',
  },
];

const REUSE: Field<RunForm> = {
  name: 'isReused',
  label: 'Take outputs of an earlier run where it was asked the same',
  kind: 'switch',
  description: 'The newest run of the same model; they cost nothing, and are scored again',
  pointer: '/config/reuse',
  isShown: ({ provider }) => provider === 'openai_compatible' || provider === 'anthropic',
};

/** How often and how fast requests are sent, and what they cost. */
export const PACE_FIELDS: readonly Field<RunForm>[] = [
  { name: 'repetitions', label: 'Repetitions', description: 'Of each item; by default 1', min: 1, max: 100 },
  { name: 'concurrency', label: 'Concurrent items', description: 'By default 8', min: 1, max: 256 },
  {
    name: 'requestsPerMinute',
    label: 'Requests per minute',
    description: 'By default no limit',
    min: 1,
    max: 1_000_000,
  },
  { name: 'maxRetries', label: 'Retries', description: 'Of one request; by default 5', min: 0, max: 20 },
  {
    name: 'timeoutS',
    label: 'Time limit in seconds',
    kind: 'decimal',
    description: 'Of one request; by default 120',
    min: 0.1,
    max: 3600,
  },
  {
    name: 'maxConsecutiveFailures',
    label: 'Failures in a row',
    description: 'That end the run; by default 20',
    min: 1,
    max: 1_000_000,
  },
  { ...PRICE, name: 'inputPrice', label: 'Price of input', description: 'For a million tokens' },
  { ...PRICE, name: 'outputPrice', label: 'Price of output', description: 'For a million tokens' },
  {
    ...PRICE,
    name: 'maxCost',
    label: 'Maximum cost',
    description: 'Ends the run before it costs more; by default no limit',
  },
  { name: 'currency', label: 'Currency', kind: 'text', description: 'Of all prices', maxLength: 3 },
  REUSE,
].map(
  (field) => ({ kind: 'number', pointer: `/config/${memberOf(field.name)}`, ...field }) as Field<RunForm>,
);

function memberOf(name: string): string {
  const members: Readonly<Record<string, string>> = {
    timeoutS: 'timeout_ms',
    inputPrice: 'price/input_per_million',
    outputPrice: 'price/output_per_million',
    currency: 'price/currency',
    maxCost: 'max_cost/amount',
  };
  return members[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
