import type { JsonValue } from '@svc/jsonl-v23/json';
import type { MarkedFiles } from '../assets/marked-files.ts';
import { type CheckOutcome, unscored } from '../checkers/checker.ts';
import type { Price } from '../config/run-config.ts';
import { excerpt, plainText } from '../item/plain-text.ts';
import { JsonText } from '../json-text.ts';
import type { ChatMessage, Provider } from '../provider.ts';
import { RunError } from '../run-error.ts';
import { MAX_REPLY_CHARS, readVerdict } from './judge-verdict.ts';

/** The model that judges, and how. */
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
 * @param messages from `judgeQuestion`, or the conversation of a large item
 * @param files whose marks the messages contain
 * @throws RunError `judge_bad_answer` for a reply without a verdict; what the provider throws
 */
export async function askJudge(
  judge: Judge | null,
  messages: readonly ChatMessage[] | Uint8Array,
  files: MarkedFiles | undefined,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  if (judge === null) return unscored('The run has no judge model');
  const conversation =
    messages instanceof Uint8Array ? { messages: [], conversationJson: messages } : { messages };
  const { output, usage } = await judge.provider.complete(
    { item: {}, ...conversation, files, maxOutputChars: MAX_REPLY_CHARS },
    signal,
  );
  const reply = output instanceof JsonText ? output.json : plainText(output);
  const verdict = readVerdict(reply, judge.threshold);
  if (verdict !== undefined) return { ...verdict, judgeUsage: usage };
  const message = `Cannot find a verdict in the judge's reply: ${excerpt(reply.trim(), 200)}.`;
  throw new RunError('judge_bad_answer', message, { judgeUsage: usage });
}
