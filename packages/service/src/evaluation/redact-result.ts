import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { type FieldKind, RESULT_FIELD_LIST, type Scores } from '@svc/jsonl-v23/runs';
import { type KnownSecrets, type Redacted, redactValue } from '@svc/jsonl-v23/secrets';
import { JsonText } from './item/canonical-text.ts';
import { MAX_INLINE_TEXT_CHARS } from './item/large-item.ts';
import { failedWith, toFailure } from './result-facts.ts';
import { RunError } from './run-error.ts';
import type { RunResult } from './run-session.ts';
import { type PackedValue, packValue, unpackSmall, unpackValue } from './scoring/packed-value.ts';
import type { CheckRunner } from './threads/check-runner.ts';

export interface RedactDeps {
  readonly secrets: KnownSecrets;
  readonly checks: Pick<CheckRunner, 'run'>;
}

/** Kinds of fields that hold texts of models, judges and clients. */
const TEXT_KINDS: ReadonlySet<FieldKind> = new Set<FieldKind>([
  ...(['json', 'object', 'string', 'long_string', 'scores', 'failure', 'title', 'name'] as const),
]);
const TEXTS = RESULT_FIELD_LIST.filter(({ kind }) => TEXT_KINDS.has(kind));

/**
 * A scored result as it is stored: its texts hold no known secrets, and it counts the replaced ones. A result fails
 * without its texts if they take too much time or memory.
 */
export async function redactResult(
  result: RunResult,
  deps: RedactDeps,
  signal: AbortSignal,
): Promise<RunResult> {
  if (deps.secrets === null) return result;
  const replaced: Record<string, unknown> = {};
  let { redacted } = result;
  try {
    for (const { name, kind } of TEXTS) {
      const text = result[name as keyof RunResult] as JsonValue | JsonText;
      const isWhole = kind === 'string' || kind === 'scores';
      const { value, count } = await redact(text, isWhole ? unpackValue : unpackSmall, deps, signal);
      redacted += count;
      // A name that holds a secret is no name.
      if (count > 0) replaced[name] = kind === 'name' ? null : value;
    }
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const nothing = Object.fromEntries(TEXTS.map(({ name }) => [name, null]));
    return { ...failedWith({ ...result, ...nothing }, toFailure(error)), requestHash: null };
  }
  return redacted === result.redacted ? result : { ...result, ...replaced, redacted };
}

/**
 * Replaces known secrets in what scorers say.
 *
 * @throws RunError `checker_limit` if that takes too much time or memory; the signal's reason when it is aborted
 */
export async function redactScores(
  scores: Scores,
  deps: RedactDeps,
  signal: AbortSignal,
): Promise<Redacted<Scores>> {
  const said = scores as unknown as JsonObject;
  return (await redact(said, unpackValue, deps, signal)) as unknown as Redacted<Scores>;
}

async function redact(
  value: JsonValue | JsonText,
  unpack: (packed: PackedValue) => JsonValue | JsonText | undefined,
  { secrets, checks }: RedactDeps,
  signal: AbortSignal,
): Promise<Redacted<JsonValue | JsonText>> {
  if (!(value instanceof JsonText) && charsOf(value) <= MAX_INLINE_TEXT_CHARS) {
    return redactValue(value, secrets);
  }
  const redacted = await checks.run({ kind: 'redact', value: packValue(value), secrets }, signal);
  if (redacted === null) return { value, count: 0 };
  return { value: unpack(redacted.value) ?? null, count: redacted.count };
}

/** Characters of a text, or of the explanations of scores; other values are small, or JSON text. */
function charsOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  if (value === null || typeof value !== 'object') return 0;
  const said = Object.values(value as unknown as Partial<Scores>);
  return said.reduce((sum, one) => sum + (one?.explanation?.length ?? 0), 0);
}
