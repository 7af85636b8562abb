import { readdirSync, readFileSync } from 'node:fs';
import type { Item } from '@svc/jsonl-v23';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { UNREADABLE } from '../../src/evaluation/checkers/checker.ts';
import { createCheckRunner } from '../../src/evaluation/threads/check-runner.ts';
import { checkOutput } from './check-output.ts';

/** What an output says about its item, see conformance/scoring/README.md. */
export type Reading = 'pass' | 'fail' | 'unreadable' | 'no_answer';

/** A line of the corpus. */
export interface CorpusLine {
  readonly checker: string;
  readonly output: JsonValue;
  readonly choices?: JsonValue[];
  readonly answer: JsonValue;
  readonly options?: JsonObject;
  readonly expect: Reading;
  readonly picked?: string | readonly string[];
  readonly read?: string;
  readonly language?: string;
  readonly why: string;
}

/** A line and its location: `file:line`. */
export interface LocatedLine extends CorpusLine {
  readonly location: string;
}

const folder = new URL('../../../../conformance/scoring/', import.meta.url);
const unreadable: readonly string[] = [...Object.values(UNREADABLE), 'Only reasoning, no answer'];
const checks = createCheckRunner({ threads: 0 });

/** Every line of conformance/scoring. */
export function readCorpus(): LocatedLine[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.toSorted().flatMap((name) =>
    readFileSync(new URL(name, folder), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line, index) => ({ ...(JSON.parse(line) as CorpusLine), location: `${name}:${index + 1}` })),
  );
}

/** How the checkers read the output of a line, and their explanation. */
export async function readLine(line: CorpusLine): Promise<{ reading: Reading; explanation: string }> {
  const { checker, options, answer, choices, output } = line;
  const item: Item = {
    checker: { type: checker, ...options },
    ...(answer !== null && { answer }),
    ...(choices !== undefined && { inputs: { choices } }),
  };
  const outcome = await checkOutput({
    item,
    output,
    judge: null,
    checks,
    signal: new AbortController().signal,
  });
  const explanation = outcome.explanation ?? '';
  if (outcome.passed === null) return { reading: 'no_answer', explanation };
  if (outcome.passed) return { reading: 'pass', explanation };
  const isUnreadable = unreadable.some((text) => explanation.startsWith(text));
  return { reading: isUnreadable ? 'unreadable' : 'fail', explanation };
}
