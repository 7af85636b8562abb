import { getMember, isJsonObject, type JsonValue, tryParseJson } from '@svc/jsonl-v23/json';
import type { MarkedFiles } from '../assets/marked-files.ts';
import { type CheckOutcome, unscored } from '../checkers/checker.ts';
import type { Price } from '../config/run-config.ts';
import { excerpt, JsonText, plainText } from '../item/canonical-text.ts';
import type { Conversation } from '../item/wire-conversation.ts';
import type { Provider } from '../provider.ts';
import { RunError } from '../run-error.ts';

export interface Judge {
  readonly provider: Provider;
  /** The least score that passes if the judge does not say. */
  readonly threshold: number;
  /** `default_judge_prompts` of the dataset; null without them. */
  readonly defaultPrompts: JsonValue;
  /** What its provider charges; null if unknown. */
  readonly price: Price | null;
}

/**
 * `judge`: the run's judge model scores the output. Without a judge model, the item stays unscored.
 *
 * @throws RunError `judge_bad_answer` for a reply without a verdict; what the provider throws
 */
export async function askJudge(
  judge: Judge | null,
  { conversationJson }: Conversation,
  files: MarkedFiles | undefined,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  if (judge === null) return unscored('The run has no judge model');
  const { output, usage } = await judge.provider.complete(
    { conversationJson, files, maxOutputChars: MAX_REPLY_CHARS },
    signal,
  );
  const reply = output instanceof JsonText ? output.json : plainText(output);
  const verdict = readVerdict(reply, judge.threshold);
  if (verdict !== undefined) return { ...verdict, judgeUsage: usage };
  const message = `Cannot find a verdict in the judge's reply: ${excerpt(reply.trim(), 200)}.`;
  throw new RunError('judge_bad_answer', message, { judgeUsage: usage });
}

const MAX_EXPLANATION_CHARS = 4_000;

/** Characters of a judge's reply, from its end, that are searched for a verdict. */
const MAX_REPLY_CHARS: number = 32 * 1024;

/**
 * Reads the verdict in a judge's reply: the last JSON object that has a `score` or `passed`, else a reply that is a
 * number from 0 to 1 or one of pass, fail, yes, no, correct, incorrect.
 */
export function readVerdict(
  reply: string,
  threshold: number,
): (CheckOutcome & { readonly status: 'ok' }) | undefined {
  const verdict = lastVerdict(reply.slice(-MAX_REPLY_CHARS));
  if (verdict === undefined) return undefined;
  const score = verdict.score ?? (verdict.passed === true ? 1 : 0);
  const explanation = verdict.explanation?.slice(0, MAX_EXPLANATION_CHARS) ?? null;
  return { status: 'ok', score, passed: verdict.passed ?? score >= threshold, explanation };
}

interface Verdict {
  readonly score: number | undefined;
  readonly passed: boolean | undefined;
  readonly explanation: string | undefined;
}

function lastVerdict(reply: string): Verdict | undefined {
  for (const text of objectsInText(reply)) {
    const verdict = fromObject(text);
    if (verdict !== undefined) return verdict;
  }
  if (reply.trim().length > 40) return undefined;
  const word = reply
    .trim()
    .replace(/^[*_"'`]+|(?<![*_"'`.!])[*_"'`.!]+$/g, '')
    .toLowerCase();
  if (/^(?:0(?:\.\d+)?|1(?:\.0+)?|\.\d+)$/.test(word)) {
    return { score: Number(word), passed: undefined, explanation: undefined };
  }
  if (/^(?:pass|passed|yes|correct|true)$/.test(word))
    return { score: 1, passed: true, explanation: undefined };
  if (/^(?:fail|failed|no|incorrect|false)$/.test(word))
    return { score: 0, passed: false, explanation: undefined };
  return undefined;
}

/** Texts that may be JSON objects, the last one first: at most 20, to limit the work for a reply full of braces. */
function* objectsInText(text: string): Generator<string> {
  const end = text.lastIndexOf('}');
  let start = text.lastIndexOf('{', end);
  for (let count = 0; end >= 0 && start >= 0 && count < 20; count += 1) {
    yield text.slice(start, end + 1);
    start = start === 0 ? -1 : text.lastIndexOf('{', start - 1);
  }
}

function fromObject(text: string): Verdict | undefined {
  const value = tryParseJson(text);
  if (!isJsonObject(value)) return undefined;
  const score = getMember(value, 'score');
  const passed = getMember(value, 'passed');
  const explanation = getMember(value, 'explanation') ?? getMember(value, 'reason');
  const isScore = typeof score === 'number' && score >= 0 && score <= 1;
  if (score !== undefined && score !== null && !isScore) return undefined; // An unknown scale.
  if (!isScore && typeof passed !== 'boolean') return undefined;
  return {
    score: isScore ? score : undefined,
    passed: typeof passed === 'boolean' ? passed : undefined,
    explanation: typeof explanation === 'string' ? explanation : undefined,
  };
}
