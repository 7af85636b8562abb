import { errorGroup, JsonText, type RunResult, type TokenCounts, tokenCounts } from '@svc/evaluation';
import {
  isJsonField,
  RESULT_FIELD_LIST,
  type ResultLabel,
  type ResultTexts,
  type ResultValues,
  type ScorerScore,
  type StatedName,
} from '@svc/jsonl-v23/internal';
import type { JsonValue } from '@svc/jsonl-v23/json';

/** A result to store, whose JSON values are texts or the bytes of texts, the tokens that its usage states, and the group of its error. */
export type ImportedResult = ResultTexts<StatedName, Uint8Array> & {
  readonly tokens: { readonly model: TokenCounts; readonly judge: TokenCounts };
  /** Null without an error. */
  readonly errorGroup: string | null;
  /** The numbers in `scores`, by scorer. */
  readonly scored: Readonly<Record<string, Pick<ScorerScore, 'score' | 'passed' | 'error'>>>;
  /** What people say of the output, where it comes with a package. */
  readonly labels?: readonly ResultLabel[];
} & Pick<RunResult, 'requestHash' | 'cost'>;

/** A result with a longer text is written by a separate statement, which takes the text as it is. */
export const MAX_TEXT_CHARS: number = 64 * 1024;

/** The fields that a result states. */
export const STATED: typeof RESULT_FIELD_LIST = RESULT_FIELD_LIST.filter(
  ({ isDerived = false }) => !isDerived,
);
const STATED_JSON = STATED.filter(isJsonField).map(({ name }) => name as StatedName);

/** Whether a result is written by a separate statement. */
export function hasLongText(result: ImportedResult): boolean {
  return STATED_JSON.some(
    (name) => ((result[name] as string | Uint8Array | null)?.length ?? 0) > MAX_TEXT_CHARS,
  );
}

/** Writes the JSON values of a result, whose section need not be found yet, as they are stored. */
export function writeResult(
  result: Omit<ResultValues<JsonText>, 'sectionOrderIndex'> & Pick<RunResult, 'requestHash' | 'cost'>,
  write: (value: JsonValue) => string | Uint8Array,
): Omit<ImportedResult, 'sectionOrderIndex'> {
  const values: { readonly [Name in StatedName]?: unknown } = result;
  const texts: { [Name in StatedName]?: unknown } = {};
  for (const name of STATED_JSON) {
    const value = values[name] as JsonValue | JsonText;
    texts[name] = value === null ? null : value instanceof JsonText ? value.json : write(value);
  }
  const tokens = { model: tokenCounts(result.usage), judge: tokenCounts(result.judgeUsage) };
  const scored =
    result.scores === null || result.scores instanceof JsonText
      ? {}
      : Object.fromEntries(
          Object.entries(result.scores).map(([name, { score = null, passed = null, error }]) => [
            name,
            { score, passed, ...(error !== undefined && { error }) },
          ]),
        );
  const group = result.error === null ? null : errorGroup(result.error);
  return { ...result, ...texts, tokens, scored, errorGroup: group } as Omit<
    ImportedResult,
    'sectionOrderIndex'
  >;
}
