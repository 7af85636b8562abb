import { CHECKERS, type FieldSchema, RUN_CONFIG } from '@svc/client';
import type { Field } from '../../ui/form/fields.tsx';
import { MORE, markOf, typesOf } from './config-values.ts';

/** What `params` of a model has fields for; the API takes any. */
const PARAMS: FieldSchema = {
  properties: { temperature: { type: 'number', minimum: 0 }, max_tokens: { type: 'integer', minimum: 1 } },
  additionalProperties: true,
};

const withParams = (model: FieldSchema): FieldSchema =>
  model.properties?.['params'] === undefined
    ? model
    : { ...model, properties: { ...model.properties, params: PARAMS } };

const member = (name: string): FieldSchema => RUN_CONFIG.properties?.[name] ?? {};

const PROVIDERS: ReadonlyMap<string, FieldSchema> = new Map(
  (member('provider').oneOf ?? []).map((one) => [String(one.properties?.['type']?.const), withParams(one)]),
);

/** The schema of a provider; without a type, with the members of all. */
export const providerSchema = (type: string | null): FieldSchema =>
  PROVIDERS.get(type ?? '') ?? {
    properties: Object.assign({}, ...[...PROVIDERS.values()].map(({ properties }) => properties)),
  };

/** What a run is configured with besides its provider, checker, judge and scorers, which have forms of their own. */
export function restOf({ properties }: FieldSchema = RUN_CONFIG): FieldSchema {
  const { provider, judge, checker, scorers, added_scorers, ...rest } = properties ?? {};
  return { properties: rest };
}

/** The schema of a judge that speaks a protocol: what its provider has no member for is left out. */
export function judgeSchema(type: string | null): FieldSchema {
  const judge = withParams(member('judge'));
  const known = { ...providerSchema(null).properties };
  const own = providerSchema(type).properties ?? {};
  return {
    ...judge,
    properties: Object.fromEntries(
      Object.entries(judge.properties ?? {}).filter(([name]) => name in own || !(name in known)),
    ),
  };
}

/** The schema of a checker with its options; without a type, with the options of all. */
export function checkerSchema(type: string | null): FieldSchema {
  const found = CHECKERS.filter(({ name }) => type === null || name === type);
  return {
    properties: Object.assign({ type: { type: 'string' } }, ...found.map(({ options }) => options)),
    required: ['type'],
  };
}

type Row = Partial<Field>;

const lines = (label: string, description: string, placeholder?: string): Row => ({
  ...{ label, kind: 'lines', description, placeholder },
});
const A_MILLION = 'For a million tokens';

/**
 * Labels and order of the members of a configuration, by their paths, for a judge after those of a provider. What has no row
 * is shown after them, by its name and the description of its schema.
 */
const ROWS: Readonly<Record<string, Row>> = {
  'provider.base_url': {
    label: 'Base URL',
    placeholder: 'http://127.0.0.1:8000/v1',
    required: true,
    data: [],
  },
  'provider.model': { label: 'Model', required: true, data: [] },
  'provider.api_key_env': {
    label: 'API key variable',
    description: 'The name of an environment variable of the workers, never the key itself',
    placeholder: 'SVC_PROVIDER_OPENAI',
    data: [],
  },
  'provider.params.temperature': { label: 'Temperature', step: 0.1 },
  'provider.params.max_tokens': { label: 'Maximum output tokens' },
  'provider.pointer': {
    label: 'Pointer',
    description: 'Where the output is in the item, as a JSON Pointer',
    data: [],
  },
  'judge.type': {
    ...{ label: 'Protocol', isOptional: false },
    data: [
      { value: 'openai_compatible', label: 'OpenAI-compatible' },
      { value: 'anthropic', label: 'Anthropic' },
    ],
  },
  'judge.threshold': {
    label: 'Lowest score that passes',
    description: 'Where the judge does not decide; by default 0.5',
    step: 0.1,
  },
  'judge.price.input_per_million': { label: 'Input price of the judge', description: A_MILLION },
  'judge.price.output_per_million': { label: 'Output price of the judge', description: A_MILLION },
  [`provider.params.${MORE}`]: {
    ...lines('Parameters', 'Further members of the request, as a JSON object', '{"top_p": 0.9}'),
    isRare: true,
  },
  'provider.auth': {
    ...{ label: 'How the key is sent', placeholder: 'Authorization: Bearer', isRare: true },
    data: [
      { value: 'bearer', label: 'Authorization: Bearer' },
      { value: 'api-key', label: 'api-key' },
    ],
  },
  'provider.query': {
    ...lines('Query parameters', 'One on each line', 'api-version=2024-10-21'),
    isRare: true,
  },
  'provider.extra_headers': {
    ...lines(
      'Headers',
      'One on each line; names begin with anthropic-, openai- or x-, and none holds a secret',
      'x-team: evaluation',
    ),
    isRare: true,
  },
  system_prompt: lines('System prompt', 'Replaces that of every item'),
  prompt_template: lines('Prompt template', 'With {prompt}, {choices} and {meta.key}'),
  'select.limit': { label: 'First items', description: 'By default all' },
  'select.sample.n': { label: 'Random sample', description: 'The number of items in it' },
  'select.sample.seed': {
    label: 'Seed of the sample',
    description: 'The same seed selects the same items',
    placeholder: '0',
  },
  'select.sections': { label: 'Sections', description: 'By default all' },
  'select.types': { label: 'Types', description: 'By default all' },
  'select.tags': { label: 'Tags', description: 'By default all' },
  'select.item_ids': { label: 'Ids of items', description: 'By default all' },
  checker_mode: {
    label: 'Use it for items with a checker too',
    kind: 'checkbox',
    on: 'override',
    off: 'default',
  },
  reasoning: {
    ...{ label: 'Score the reasoning too', kind: 'checkbox', on: 'score', off: 'strip' },
    description: 'By default only what follows it in an output, such as after </think>',
  },
  allow_unscored: { label: 'Run even if no item can be scored' },
  repetitions: { label: 'Repetitions', description: 'Of each item; by default 1' },
  concurrency: { label: 'Concurrent items' },
  requests_per_minute: { label: 'Requests per minute', description: 'By default no limit' },
  max_retries: { label: 'Retries', description: 'Of one request; by default 5' },
  timeout_ms: {
    ...{ label: 'Time limit in seconds', kind: 'decimal', unit: 1000, min: 0.1, max: 3600 },
    description: 'Of one request; by default 120',
  },
  max_consecutive_failures: { label: 'Failures in a row', description: 'That end the run; by default 20' },
  'price.input_per_million': { label: 'Price of input', description: A_MILLION },
  'price.output_per_million': { label: 'Price of output', description: A_MILLION },
  'max_cost.amount': {
    label: 'Maximum cost',
    description: 'Ends the run before it costs more; by default no limit',
  },
  'price.currency': { label: 'Currency', description: 'Of all prices', maxLength: 3 },
  'reuse.run_id': {
    ...{ label: 'Take outputs of an earlier run where it was asked the same', kind: 'switch', on: 'latest' },
    description: 'The newest run of the same model; they cost nothing, and are scored again',
  },
};

const ORDER = Object.keys(ROWS);

const rowKey = (path: string): string => (path in ROWS ? path : path.replace(/^judge\./, 'provider.'));

/** Members that a form keeps as they are, or that have a part of their own. */
const WITHOUT_FIELD: ReadonlySet<string> = new Set(['provider.type', 'checker.type', 'judge.price.currency']);

/** The fields of the members of an object, and of the objects in it, in the order of the table. */
export function fieldsOf(schema: FieldSchema, path: string): readonly Field[] {
  return membersOf(schema, path)
    .map(([at, field]) => [ORDER.indexOf(rowKey(at)), field] as const)
    .sort(([a], [b]) => (a === -1 ? ORDER.length : a) - (b === -1 ? ORDER.length : b))
    .map(([, field]) => field);
}

function membersOf(schema: FieldSchema, path: string): readonly (readonly [path: string, field: Field])[] {
  const { properties = {}, additionalProperties } = schema;
  const all = Object.entries(properties);
  if (additionalProperties === true) all.push([MORE, { type: 'object' }]);
  return all.flatMap(([name, one]) => {
    const at = path === '' ? name : `${path}.${name}`;
    if (WITHOUT_FIELD.has(at)) return [];
    if (one.properties !== undefined) return membersOf(one, at);
    const row = ROWS[rowKey(at)];
    const by =
      one.default === undefined || typeof one.default === 'object' ? '' : `By default ${one.default}`;
    const description = row === undefined ? wordsOf(one.description ?? by) : (row.description ?? by);
    const field = {
      name: `config.${at}`,
      pointer: `/config/${at.replaceAll('.', '/').replace(`/${MORE}`, '')}`,
      label: wordsOf(name),
      ...kindOf(one, name),
      ...row,
      ...(description !== '' && { description }),
    };
    return [[at, field as Field] as const];
  });
}

function kindOf(schema: FieldSchema, name: string): Row {
  const { enum: values, minimum, maximum, default: byDefault, additionalProperties } = schema;
  const types = typesOf(schema);
  const bounds = { min: minimum, max: maximum };
  if (values !== undefined)
    return {
      ...{ kind: 'select', isOptional: true, placeholder: String(byDefault ?? '') },
      data: values.filter((value) => value !== null).map(String),
    };
  if (types.includes('boolean')) return { kind: 'checkbox' };
  if (types.includes('integer')) return { kind: 'number', ...bounds };
  if (types.includes('number')) return { kind: 'decimal', ...bounds };
  if (types.includes('array')) return { kind: 'tags' };
  if (types.includes('object'))
    return { kind: 'lines', reads: typeof additionalProperties === 'object' ? markOf(name) : 'json' };
  return {};
}

/** `ignore_case` as `Ignore case`. */
const wordsOf = (text: string): string => {
  const words = text.replaceAll('`', '');
  return (
    words.charAt(0).toUpperCase() + (/\s/.test(words) ? words.slice(1) : words.slice(1).replaceAll('_', ' '))
  );
};

/** Fields with the values that are suggested for some, by the paths of their members. */
export const suggesting = (
  fields: readonly Field[],
  values: Readonly<Record<string, readonly string[] | undefined>>,
): readonly Field[] =>
  fields.map((field) => {
    const data = values[field.name.replace(/^config\./, '')];
    return data === undefined ? field : { ...field, data };
  });

export const asksModel = (type: unknown): boolean =>
  'model' in (providerSchema(String(type)).properties ?? {});

export const providerFields = (type: string): readonly Field[] =>
  fieldsOf(providerSchema(type), 'provider').map((field) => placed(field, type));

export const judgeFields = (type: string, currency: string): readonly Field[] =>
  fieldsOf(judgeSchema(type), 'judge').map((field) =>
    field.name.includes('.price.')
      ? { ...field, description: `${A_MILLION}, in ${currency}` }
      : placed(field, type),
  );

const placed = (field: Field, type: string): Field =>
  type === 'anthropic' && field.name.endsWith('.base_url')
    ? { ...field, placeholder: 'https://api.anthropic.com' }
    : field;

export const CHECKER_CHOICES: readonly { readonly value: string; readonly label: string }[] = CHECKERS.map(
  ({ name, example }) => ({ value: name, label: `${name}: ${example}` }),
);

export const optionFields = (type: string | null, path: string): readonly Field[] =>
  type === null
    ? []
    : fieldsOf(checkerSchema(type), path).filter(({ name }) => !name.endsWith('checker.type'));

export const checkerFields = (type: string | null, description: string): readonly Field[] => [
  {
    ...{ name: 'config.checker.type', label: 'Checker', kind: 'select', isOptional: true },
    ...{
      description,
      placeholder: 'By the type of the item',
      data: CHECKER_CHOICES,
      pointer: '/config/checker',
    },
  },
  ...optionFields(type, 'checker'),
];

/** The parts of the form for the members of a configuration; `pace` has those that are not named here. */
const PARTS: Readonly<Record<string, string>> = {
  select: 'selection',
  system_prompt: 'prompt',
  prompt_template: 'prompt',
  checker_mode: 'scoring',
  reasoning: 'scoring',
  allow_unscored: 'scoring',
};

export const partFields = (part: string, schema: FieldSchema = RUN_CONFIG): readonly Field[] =>
  fieldsOf(restOf(schema), '').filter(({ name }) => (PARTS[name.split('.')[1] ?? ''] ?? 'pace') === part);
