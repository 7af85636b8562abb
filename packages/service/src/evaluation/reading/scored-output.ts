import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { splitReasoning } from '@svc/jsonl-v23/runs';

/** What of an output is scored: what follows its reasoning, or all of it. */
export type ReasoningMode = 'strip' | 'score';

/** Takes the part of an output that is scored, apart from the reasoning in front of it. Only texts have reasoning. */
export function scoredOutput(output: JsonValue, mode: ReasoningMode) {
  if (typeof output !== 'string' || mode === 'score') {
    return { scored: output, reasoning: null, isOnlyReasoning: false };
  }
  const { text, reasoning } = splitReasoning(output);
  // The output may end before its reasoning does, or with it.
  return { scored: text, reasoning, isOnlyReasoning: reasoning !== null && text === '' };
}

/** What an output says: its text, also if it calls tools too. */
export function saidIn(output: JsonValue): JsonValue {
  if (!isJsonObject(output) || !Array.isArray(getMember(output, 'tool_calls'))) return output;
  const content = getMember(output, 'content');
  return typeof content === 'string' ? content : output;
}

const FENCE_LINE = /^[ \t]{0,3}(`{3,}|~{3,})[^`\n]*$/;

/** The inside of a fenced block of Markdown if the text is nothing else; else the text. */
export function unfenced(text: string): string {
  const lines = text.trim().split('\n');
  const fence = FENCE_LINE.exec((lines[0] ?? '').trimEnd())?.[1];
  if (fence === undefined || lines.length < 2) return text;
  const isClosing = (line: string): boolean => {
    const trimmed = line.trim();
    return trimmed.length >= fence.length && trimmed === (fence[0] ?? '').repeat(trimmed.length);
  };
  const close = lines.findIndex((line, index) => index > 0 && isClosing(line));
  return close === lines.length - 1 ? lines.slice(1, -1).join('\n').replace(/\r$/, '') : text;
}
