import type { FormErrors } from '@mantine/form';
import type { BodyOf, FieldSchema } from '@svc/client';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import type { Field } from '../../ui/form/fields.tsx';
import type { Run } from '../queries.ts';
import {
  asksModel,
  checkerSchema,
  fieldsOf,
  judgeFields,
  judgeSchema,
  providerFields,
  providerSchema,
  restOf,
} from './config-fields.ts';
import {
  type Config,
  objectOf,
  readObject,
  readPairs,
  stated,
  typedOf,
  valueOfTyped,
} from './config-values.ts';

export type NewRunBody = BodyOf<'/runs'>;

export interface ScorerRow {
  readonly name: string;
  /** Type of a checker, `judge` for the judge of the form, or `items` for what the items say. */
  readonly by: string;
  readonly checker: Config;
  /** The scorer of a copied run: its judge, if that differs from the judge of the form, and unknown options stay. */
  readonly copied: Config;
}

export interface TypedScoring {
  readonly checker: Config & { readonly type: string | null };
  readonly judge: Config & { readonly isUsed: boolean; readonly type: string };
}

export interface TypedConfig extends TypedScoring, Config {
  readonly provider: Config & Readonly<Record<'type' | 'base_url' | 'model' | 'api_key_env', string>>;
  /** Several scorers, the main one first; empty for the checker and the judge alone. */
  readonly scorers: readonly ScorerRow[];
}

export interface RunForm {
  readonly datasetId: string | null;
  /** Number of the version, or the beginning of its hash; null for the newest. */
  readonly version: string | null;
  readonly name: string;
  readonly config: TypedConfig;
  /** Further models and prompt templates: each model runs with each template. */
  readonly models: readonly string[];
  readonly templates: readonly string[];
  /** The configuration of the run that is copied: what the form has no field for stays as it is there. */
  readonly copied: Config;
}

export const MAX_SCORERS = 8;

export const MAX_RUNS = 20;

const CURRENCY = 'USD';

/** A checker as a form has it; one without options may be its name alone. */
export function typedChecker(checker?: unknown): TypedScoring['checker'] {
  const members = typeof checker === 'string' ? { type: checker } : objectOf(checker);
  return { ...objectOf(typedOf(checkerSchema(null), members)), type: (members['type'] as string) ?? null };
}

export function typedJudge(judge?: unknown): TypedScoring['judge'] {
  const { type = 'openai_compatible' } = objectOf(judge);
  return { ...objectOf(typedOf(judgeSchema(null), judge)), type: String(type), isUsed: judge != null };
}

export function typedConfig(config: Config = {}): TypedConfig {
  const provider = objectOf(config['provider']);
  const { type, pointer = '/answer' } = provider;
  const scorers = Array.isArray(config['scorers']) ? config['scorers'].map(objectOf) : [];
  const judge = scorers.find((one) => one['judge'] !== undefined)?.['judge'] ?? config['judge'];
  return {
    ...objectOf(typedOf(restOf(), config)),
    provider: {
      ...objectOf(typedOf(providerSchema(null), provider)),
      ...{ type: type === undefined || type === 'external' ? 'openai_compatible' : type, pointer },
    } as unknown as TypedConfig['provider'],
    judge: typedJudge(judge),
    checker: typedChecker(config['checker']),
    scorers: scorers.map((copied): ScorerRow => {
      const checker = typedChecker(copied['checker']);
      const by = copied['judge'] === undefined ? (checker.type ?? 'items') : 'judge';
      const isOwn =
        by === 'judge' &&
        canonicalJson(copied['judge'] as JsonValue) !== canonicalJson((judge ?? null) as JsonValue);
      return {
        name: String(copied['name'] ?? ''),
        by,
        checker,
        copied: isOwn || by !== 'judge' ? copied : {},
      };
    }),
  };
}

export const EMPTY_FORM: RunForm = {
  ...{ datasetId: null, version: null, name: '' },
  config: typedConfig(),
  ...{ models: [], templates: [], copied: {} },
};

export const formOf = ({
  dataset_id,
  dataset_version,
  name,
  config,
}: Pick<Run, 'dataset_id' | 'dataset_version' | 'name' | 'config'>): RunForm => ({
  ...EMPTY_FORM,
  ...{ datasetId: dataset_id, version: String(dataset_version) },
  name: name === null ? '' : `${name} (copy)`.slice(0, 255),
  config: typedConfig(config as Config),
  copied: config as Config,
});

export function problemsOf(form: { readonly config: TypedScoring | TypedConfig }): FormErrors {
  const { judge, ...config } = form.config;
  const { provider } = config as Partial<TypedConfig>;
  return {
    ...(provider === undefined ? {} : textProblems(providerFields(provider.type), { provider })),
    ...(judge.isUsed ? textProblems(judgeFields(judge.type, CURRENCY), { judge }) : {}),
  };
}

function textProblems(fields: readonly Field[], config: Config): FormErrors {
  return Object.fromEntries(
    fields.flatMap(({ name, reads }) => {
      if (reads === undefined) return [];
      const text = String(valueAt({ config }, name) ?? '');
      const { problem } = reads === 'json' ? readObject(text) : readPairs(text, reads);
      return problem === null ? [] : [[name, problem]];
    }),
  );
}

export const valueAt = (values: object, name: string): unknown =>
  name.split('.').reduce<unknown>((value, key) => (value as Config | null)?.[key], values);

/** A model as the API takes it; null while something that it needs is absent, or a text of it is invalid. */
function modelOf(schema: FieldSchema, path: 'provider' | 'judge', typed: Config): Config | null {
  if (Object.keys(textProblems(fieldsOf(schema, path), { [path]: typed })).length > 0) return null;
  const value = objectOf(valueOfTyped(schema, typed));
  return (schema.required ?? []).every((name) => value[name] !== undefined) ? value : null;
}

/** A judge as the API takes it; undefined if none is used, null while it is incomplete. */
export function judgeOf(judge: TypedScoring['judge'], currency: string): Config | null | undefined {
  if (!judge.isUsed) return undefined;
  const value = modelOf(judgeSchema(judge.type), 'judge', judge);
  return value?.['price'] === undefined
    ? value
    : { ...value, price: { ...objectOf(value['price']), currency } };
}

/** A checker as the API takes it; undefined if none is chosen. Unknown options come from the copied one. */
export function checkerOf(typed: TypedScoring['checker'], copied?: unknown): object | undefined {
  const before = objectOf(copied);
  return valueOfTyped(checkerSchema(typed.type), typed, before['type'] === typed.type ? before : {}) as
    | object
    | undefined;
}

/** Several scorers as the API takes them; null while a name or the judge is absent. */
function scorersOf(
  rows: readonly ScorerRow[],
  judge: Config | null | undefined,
): readonly Config[] | null | undefined {
  if (rows.length === 0) return undefined;
  const scorers = rows.map(({ name, by, checker, copied }): Config | null => {
    if (name.trim() === '') return null;
    if (by === 'items') return { name: name.trim() };
    if (by !== 'judge')
      return { name: name.trim(), checker: checkerOf({ ...checker, type: by }, copied['checker']) };
    const asked = copied['judge'] ?? judge;
    return asked == null ? null : { name: name.trim(), judge: asked };
  });
  return scorers.every((scorer) => scorer !== null) ? scorers : null;
}

/** The request of a form; null while something that it needs is absent or invalid. */
export function toRequest({ datasetId, version, name, config, copied }: RunForm): NewRunBody | null {
  const { checker, judge: typedOfJudge, scorers: rows, provider: asked } = config;
  const provider = modelOf(providerSchema(asked.type), 'provider', asked);
  const judge = judgeOf(typedOfJudge, String(objectOf(config['price'])['currency'] || CURRENCY));
  const scorers = scorersOf(rows, judge);
  if (datasetId === null || provider === null || judge === null || scorers === null) return null;
  const isSeveral = scorers !== undefined;
  const rest = objectOf(valueOfTyped(restOf(), config, copied));
  return {
    dataset_id: datasetId,
    ...(version !== null && { version }),
    name: name.trim() || null,
    config: stated({
      ...rest,
      // an undefined member of the form hides the copied run's
      ...{ provider, scorers, judge: isSeveral ? undefined : judge },
      checker: isSeveral ? undefined : checkerOf(checker, copied['checker']),
      checker_mode: isSeveral || checker.type === null ? undefined : rest['checker_mode'],
    }) as unknown as NewRunBody['config'],
  };
}

/** The requests of a form, one for each model with each template; null while something that they need is absent or invalid. */
export function toRequests(form: RunForm): readonly NewRunBody[] | null {
  const { provider, prompt_template } = form.config;
  const models = [provider.model, ...(asksModel(provider.type) ? form.models : [])];
  const templates = [prompt_template, ...form.templates.filter((text) => text.trim() !== '')];
  const requests = models.flatMap((model) =>
    templates.map((template, at) => {
      const parts = [
        form.name.trim(),
        models.length > 1 || templates.length > 1 ? model : '',
        templates.length > 1 ? `prompt ${at + 1}` : '',
      ].filter((part) => part !== '');
      // without a name, a run is called like its model
      const isNamed = form.name.trim() !== '' || templates.length > 1;
      const name = isNamed ? parts.join(', ').slice(0, 255) : '';
      const config = { ...form.config, prompt_template: template, provider: { ...provider, model } };
      return toRequest({ ...form, name, config });
    }),
  );
  return requests.every((request) => request !== null) ? requests : null;
}
