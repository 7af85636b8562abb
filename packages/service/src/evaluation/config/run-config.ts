import { canonicalJson, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { FromSchema } from 'json-schema-to-ts';
import type { RunChecker } from '../item/large-item.ts';
import type { RunPrompts } from '../item/prompt-template.ts';
import type { WireFormat } from '../provider.ts';
import type { ReasoningMode } from '../reading/scored-output.ts';
import type {
  JUDGE_SCHEMA,
  PRICE_SCHEMA,
  PROVIDER_SCHEMAS,
  RUN_CONFIG_SHAPE,
  SELECT_SCHEMA,
} from './run-config-schema.ts';

type Providers = typeof PROVIDER_SCHEMAS;
/** A schema's type does not know that the members of `params` are JSON. */
type WithParams<Model> = Omit<Model, 'params'> & { readonly params: JsonObject };

export type Price = FromSchema<typeof PRICE_SCHEMA>;

export type JudgeConfig = WithParams<FromSchema<typeof JUDGE_SCHEMA>>;

/** A model and how it is asked. `base_url` has no trailing slash. */
export type ModelConfig = Omit<JudgeConfig, 'type' | 'threshold' | 'price'>;

export type ProviderConfig =
  | WithParams<FromSchema<Providers['openai_compatible']>>
  | WithParams<FromSchema<Providers['anthropic']>>
  | FromSchema<Providers['item_field']>
  | FromSchema<Providers['external']>
  | FromSchema<Providers['echo']>;

/** Which items of a dataset a run takes; its members apply in this order. */
export type RunSelection = Omit<FromSchema<typeof SELECT_SCHEMA>, 'item_ids'> & {
  /** Strings and integers of any size. */
  readonly item_ids?: readonly JsonValue[];
};

/**
 * A valid run configuration with its defaults, as it is stored, shown and exported. It holds no secret: keys stay with
 * the workers.
 */
export type RunConfig = Omit<
  FromSchema<typeof RUN_CONFIG_SHAPE>,
  'provider' | 'judge' | 'select' | 'checker' | 'scorers' | 'added_scorers'
> & {
  readonly provider: ProviderConfig;
  readonly judge?: JudgeConfig;
  /** Absent for all items. */
  readonly select?: RunSelection;
  readonly checker?: JsonValue;
  /** The first is the main one. */
  readonly scorers?: readonly ScorerConfig[];
  /** Further ones, which were added to the finished run. */
  readonly added_scorers?: readonly ScorerConfig[];
};

/** One of several scorers: it scores by a checker, by a judge, or as the items say. */
interface ScorerConfig {
  readonly name: string;
  readonly checker?: JsonValue;
  readonly judge?: JudgeConfig;
}

export const wireFormatOf = ({ type }: Pick<JudgeConfig, 'type'>): WireFormat =>
  type === 'anthropic' ? 'anthropic_messages' : 'chat_completions';

/** The model that a run asks, and how; null if it asks none. */
export function modelOf({
  provider,
}: Pick<RunConfig, 'provider'>): { readonly model: ModelConfig; readonly wireFormat: WireFormat } | null {
  return 'base_url' in provider ? { model: provider, wireFormat: wireFormatOf(provider) } : null;
}

/** The name of the scorer of a configuration that names none. */
export const MAIN_SCORER = 'main';

export function judgesOf({
  judge,
  scorers = [],
  added_scorers: added = [],
}: Pick<RunConfig, 'judge' | 'scorers' | 'added_scorers'>): readonly JudgeConfig[] {
  return [judge, ...[...scorers, ...added].map((scorer) => scorer.judge)].filter((one) => one !== undefined);
}

export interface ScorerPlan {
  readonly name: string;
  readonly checker: RunChecker | null;
  readonly judge: JudgeConfig | null;
}

/** The scorers of a run, the main one first. A scorer with a checker or a judge scores every item by it. */
export function scorersOf(
  config: Pick<RunConfig, 'checker' | 'checker_mode' | 'judge' | 'scorers' | 'added_scorers'>,
): readonly [ScorerPlan, ...ScorerPlan[]] {
  const [first, ...others] = (config.scorers ?? []).map(scorerPlan);
  const added = (config.added_scorers ?? []).map(scorerPlan);
  const main = first ?? { name: MAIN_SCORER, checker: checkerOf(config), judge: config.judge ?? null };
  return [main, ...others, ...added];
}

function scorerPlan({ name, checker, judge }: ScorerConfig): ScorerPlan {
  const stated = judge === undefined ? checker : 'judge';
  return {
    name,
    checker: stated === undefined ? null : { json: canonicalJson(stated), mode: 'override' },
    judge: judge ?? null,
  };
}

export function promptsOf(config: Pick<RunConfig, 'system_prompt' | 'prompt_template'>): RunPrompts {
  return { system: config.system_prompt ?? null, template: config.prompt_template ?? null };
}

export const reasoningOf = ({ reasoning = 'strip' }: Pick<RunConfig, 'reasoning'>): ReasoningMode =>
  reasoning;

export function checkerOf(config: Pick<RunConfig, 'checker' | 'checker_mode'>): RunChecker | null {
  const { checker, checker_mode: mode = 'default' } = config;
  return checker === undefined ? null : { json: canonicalJson(checker), mode };
}
