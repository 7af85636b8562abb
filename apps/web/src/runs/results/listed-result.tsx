import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { splitReasoning } from '@svc/jsonl-v23/runs';
import { questionOf, tagsOf } from '../../datasets/items/item-reading.ts';
import { Icon } from '../../ui/icons.tsx';
import { leavesOf, objectIn } from '../../ui/pointer-of.ts';
import { plainText } from '../../ui/text/formats.ts';
import type { Result } from '../queries.ts';

/** A result with what the list shows of its item: beginnings of texts, which are never compared. */
export type ListedResult = ReturnType<typeof listedResult>;

/** What a blind sample does not tell. */
const UNTOLD = {
  ...{ status: 'unscored', passed: null, score: null, scores: null, scored_by: null, explanation: null },
  ...{ error: null, latency_ms: null, usage: null, cost: null, finish_reason: null, truncated: false },
  ...{ attempts: null, omitted_assets: null, reasoning: null },
} as const satisfies Partial<Result>;

/** Takes from the item of a result what the list shows: whole items would fill the memory. */
export function listedResult({ item, ...result }: Result) {
  const whole = (item ?? {}) as JsonObject;
  const meta = leavesOf(objectIn(whole, 'meta'));
  return {
    ...UNTOLD,
    ...result,
    question: item == null ? '' : questionOf(whole, MAX_CELL),
    expected: shortText(getMember(whole, 'answer')),
    type: plainText(getMember(whole, 'type'), 40),
    tags: tagsOf(whole).slice(0, 5),
    /** By the pointer into the metadata. */
    meta: Object.fromEntries(meta.map(([pointer, value]) => [pointer, shortText(value)])),
  };
}

/** Characters of a cell, which are also read out. */
const MAX_CELL = 120;
export const shortText = (value: JsonValue | undefined): string => plainText(value, MAX_CELL);

/** How an address names a result: by the hash of its item, or by its place where the item is gone. */
export function resultKey(
  result: Pick<Result, 'item_hash' | 'section' | 'order_index' | 'repetition'>,
): string {
  const { item_hash, section, order_index, repetition } = result;
  const item = item_hash ?? `${section} ${order_index}`;
  return repetition === 1 ? item : `${item}.${repetition}`;
}

/** The tokens of an output as its provider counted them: of OpenAI's answers, else of Anthropic's. */
export function outputTokensOf({ usage }: Pick<Result, 'usage'>): number | null {
  const count = usage?.['completion_tokens'] ?? usage?.['output_tokens'];
  return typeof count === 'number' ? count : null;
}

/** What a checker says that it took for the answer. */
const READ = /^(?:Read (\S+) from|Picked ([^:]+):)/;

/** The answer as the checker read it in the output; undefined if it does not say so, or took the output as it is. */
export function readOf(result: Pick<Result, 'output' | 'explanation' | 'scored_by'>): string | undefined {
  const { output, explanation, scored_by } = result;
  const [, number, choices] = (scored_by === 'checker' && READ.exec(explanation ?? '')) || [];
  const read = number ?? choices;
  return read === answerIn(output) ? undefined : read;
}

export const answerIn = (output: unknown): JsonValue =>
  typeof output === 'string' ? splitReasoning(output).text : (output as JsonValue);

/** What the model thought before its answer: sent with the output, or at its beginning; null without any. */
export function reasoningOf({ output, reasoning }: Pick<Result, 'output' | 'reasoning'>): string | null {
  const within = typeof output === 'string' ? splitReasoning(output).reasoning : null;
  return [reasoning, within].filter((text) => text !== null && text !== '').join('\n\n') || null;
}

/** What came: as the checker read it, where it says so, else what follows the reasoning in the output. */
export const gotOf = (result: Pick<Result, 'output' | 'explanation' | 'scored_by'>): JsonValue | undefined =>
  readOf(result) ?? answerIn(result.output);

/** Why a result is what it is: what the checker or judge says, or why there is no answer, in the provider's own words. */
export const whyOf = ({ error, explanation }: Pick<Result, 'error' | 'explanation'>): string | null =>
  error?.provider_message ?? error?.message ?? explanation;

/** The outcome of a result as one scorer sees it; as the main one does without a name. */
export function outcomeOf(
  { status, passed, scores }: Pick<ListedResult, 'status' | 'passed' | 'scores'>,
  scorer: string | undefined,
): Pick<ListedResult, 'status' | 'passed'> {
  if (scorer === undefined) return { status, passed };
  const scored = scores?.[scorer]?.passed ?? null;
  return { status: status === 'failed' || scored !== null ? status : 'unscored', passed: scored };
}

export function outcomeText({ status, passed }: Pick<ListedResult, 'status' | 'passed'>): string {
  if (passed !== null) return passed ? 'right' : 'wrong';
  return status === 'failed' ? 'no answer' : 'not scored';
}

const MARKS = { none: ['minus', 'orange'], right: ['check', 'teal'], wrong: ['x', 'red'] } as const;

export function Mark({ result }: { readonly result: Pick<ListedResult, 'status' | 'passed'> }) {
  const { passed } = result;
  const [name, color] = passed === null ? MARKS.none : passed ? MARKS.right : MARKS.wrong;
  return (
    <Icon
      name={name}
      role="img"
      size={16}
      color={`var(--mantine-color-${color}-6)`}
      aria-label={outcomeText(result)}
    />
  );
}
