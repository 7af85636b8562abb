import type { JsonObject } from '@svc/jsonl-v23/json';
import type { JsonText } from './item/canonical-text.ts';
import type { TokenCounts } from './provider.ts';

/** Every code of a {@link RunError}. Codes are stable: you can branch on them. */
export type RunErrorCode =
  | 'invalid_request'
  | 'nothing_to_score'
  | 'item_too_large'
  | 'item_without_prompt'
  | 'asset_missing'
  | 'field_missing'
  | 'checker_invalid'
  | 'checker_limit'
  | 'judge_bad_answer'
  | 'provider_key_missing'
  | 'provider_unauthorized'
  | 'provider_forbidden'
  | 'provider_not_found'
  | 'provider_rejected'
  | 'provider_rate_limited'
  | 'provider_unavailable'
  | 'provider_timeout'
  | 'provider_bad_response'
  | 'run_cancelled'
  | 'budget_spent'
  | 'internal';

export interface RunConfigProblem {
  readonly message: string;
  readonly path: string;
}

/** An error of a run or of one of its items. Its message holds no secret. */
export class RunError extends Error {
  override readonly name: string = 'RunError';
  readonly code: RunErrorCode;
  /** Whether every other item would fail in the same way, so that the run ends. */
  readonly endsRun: boolean;
  /** The problems of a configuration, for `invalid_request`. */
  readonly errors: readonly RunConfigProblem[];
  /** Requests that were sent to the provider before the error; null if unknown. */
  readonly attempts: number | null;
  /** What the provider says about it, without secrets; null if it says nothing. */
  readonly providerMessage: string | null;
  /** What failed answers of the provider used, as far as they say; null if unknown. */
  readonly usage: JsonObject | JsonText | null;
  /** The tokens of each answer that is to be paid for. */
  readonly answers: readonly TokenCounts[];
  /** What a judge without a verdict used; null if unknown. */
  readonly judgeUsage: JsonObject | JsonText | null;

  constructor(
    code: RunErrorCode,
    message: string,
    details: Partial<Omit<RunError, 'name' | 'message' | 'code' | 'stack'>> = {},
  ) {
    super(message, 'cause' in details ? { cause: details.cause } : undefined);
    this.code = code;
    this.endsRun = details.endsRun ?? false;
    this.errors = details.errors ?? [];
    this.attempts = details.attempts ?? null;
    this.providerMessage = details.providerMessage ?? null;
    this.usage = details.usage ?? null;
    this.answers = details.answers ?? [];
    this.judgeUsage = details.judgeUsage ?? null;
  }
}

/** The abort reason for a run that a client has cancelled. */
export function runCancelled(): RunError {
  return new RunError('run_cancelled', 'The run was cancelled.');
}
