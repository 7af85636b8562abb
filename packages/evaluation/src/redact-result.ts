import { type KnownSecrets, type Redacted, redactValue, type Scores } from '@svc/jsonl-v23/internal';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { MAX_INLINE_TEXT_CHARS } from './item/large-item.ts';
import { JsonText } from './json-text.ts';
import { failedWith, toFailure } from './result-facts.ts';
import { RunError } from './run-error.ts';
import type { RunResult } from './run-session.ts';
import { packValue, unpackSmall, unpackValue } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

/** What redacting needs: threads read large texts. */
export interface RedactDeps {
  readonly secrets: KnownSecrets;
  readonly checks: Pick<CheckRunner, 'run'>;
}

/** The members of a result whose texts others write and that may stay JSON text. */
const VALUES = ['output', 'usage', 'judgeUsage', 'usageReused', 'error', 'traceId', 'finishReason'] as const;

/**
 * A scored result as it is stored: known secrets are replaced in its texts, and counted. One whose texts take too much
 * time or memory fails without an output.
 *
 * @throws the signal's reason when it is aborted
 */
export async function redactResult(
  result: RunResult,
  deps: RedactDeps,
  signal: AbortSignal,
): Promise<RunResult> {
  if (deps.secrets === null) return result;
  const replaced: Record<string, unknown> = {};
  let { redacted } = result;
  const keep = (name: string, { value, count }: Redacted<unknown>): void => {
    if (count === 0) return;
    redacted += count;
    // A reason that holds a secret is none.
    replaced[name] = name === 'finishReason' ? null : value;
  };
  try {
    for (const name of VALUES) keep(name, await redact(result[name], deps, signal));
    const { scores, explanation } = result;
    keep('explanation', await redactScores(explanation, deps, signal));
    if (scores !== null && !(scores instanceof JsonText)) {
      keep('scores', await redactScores(scores, deps, signal));
    }
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const nothing = { output: null, usage: null, usageReused: null, finishReason: null, traceId: null };
    return { ...failedWith({ ...result, ...nothing }, toFailure(error)), requestHash: null };
  }
  return redacted === result.redacted ? result : { ...result, ...replaced, redacted };
}

/**
 * Replaces known secrets in what scorers say.
 *
 * @throws RunError `checker_limit` if that takes too much time or memory; the signal's reason when it is aborted
 */
export async function redactScores<T extends Scores | string | null>(
  said: T,
  { secrets, checks }: RedactDeps,
  signal: AbortSignal,
): Promise<Redacted<T>> {
  const value = said as JsonValue;
  if (charsOf(value) <= MAX_INLINE_TEXT_CHARS) return redactValue(value, secrets) as Redacted<T>;
  const redacted = await checks.run({ kind: 'redact', value: packValue(value), secrets }, signal);
  if (redacted === null) return { value: said, count: 0 };
  return { value: unpackValue(redacted.value) as T, count: redacted.count };
}

/** The same in any value, which stays JSON text if it is large. */
async function redact(
  value: JsonValue | JsonText | RunResult['error'],
  { secrets, checks }: RedactDeps,
  signal: AbortSignal,
): Promise<Redacted<unknown>> {
  const isLarge = value instanceof JsonText || charsOf(value as JsonValue) > MAX_INLINE_TEXT_CHARS;
  if (!isLarge) return redactValue(value as JsonObject, secrets);
  const packed = packValue(value as JsonValue | JsonText);
  const redacted = await checks.run({ kind: 'redact', value: packed, secrets }, signal);
  if (redacted === null) return { value, count: 0 };
  return { value: unpackSmall(redacted.value), count: redacted.count };
}

/** Characters of a text, or of the explanations of scores. */
function charsOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (value === null || typeof value !== 'object') return 0;
  const said = Object.values(value as unknown as Partial<Scores>);
  return said.reduce((sum, one) => sum + (one?.explanation?.length ?? 0), 0);
}
