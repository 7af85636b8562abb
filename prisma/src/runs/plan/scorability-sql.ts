import type { ScoringFacts } from '@svc/evaluation';
import { insideJsonString, memberText, readableJson } from '../../database/values.ts';

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const list = (values: readonly string[]): string => `ARRAY[${values.map(text).join(', ')}]::text[]`;

/** Whether an item has a reference answer. */
const HAS_REFERENCE = `(i.answer IS NOT NULL AND i.answer::text NOT IN ('null', '""', '[]'))`;
const hasElements = (path: string): string =>
  `CASE WHEN json_typeof(${path}) = 'array' THEN json_array_length(${path}) > 0 ELSE false END`;
const HAS_CHOICES = hasElements(`${readableJson('i.payload')} #> '{inputs,choices}'`);

/**
 * SQL for how an item is scored: `scored`, `judged`, or why it cannot be: `no_checker`, `no_answer`, `no_choices`,
 * `no_judge`, `unknown_checker`. It decides as the workers do (`planCheck` of @svc/evaluation) without an output, and
 * reads no more of an item than it needs.
 *
 * @returns the columns `scoring`, and of items with a `regex` checker `pattern` and `flags` as JSON texts, of the rows of
 * `source`, which has the columns of `items i`
 */
export function scoringOf(source: string, facts: ScoringFacts, add: (value: unknown) => string): string {
  const { checker, checkerTypes, judge } = facts;
  const own = checker === null ? 'NULL::json' : `${add(checker.json)}::json`;
  const effective =
    checker?.mode === 'override'
      ? own
      : `CASE WHEN i.checker IS NULL OR i.checker::text = 'null' THEN ${own} ELSE i.checker END`;
  const asksForJudge =
    judge === null
      ? 'false'
      : `(${hasDefaultPrompt(judge, add)} OR ${hasElements(`${readableJson('i.payload')} -> 'criteria'`)}
          OR coalesce((${readableJson('i.payload')} #> '{meta,judge_prompt}')::text ~ '^"(\\s|\\\\[nrt])*[^\\s"\\\\]', false))`;
  return `SELECT CASE
      WHEN kind IS NULL THEN 'no_checker'
      WHEN kind = 'judge' THEN ${judge === null ? `'no_judge'` : `'judged'`}
      WHEN NOT kind = ANY (${list(checkerTypes)}) THEN 'unknown_checker'
      WHEN kind = 'regex' AND json_typeof(stated) = 'object' AND json_typeof(stated -> 'pattern') = 'string' THEN 'scored'
      WHEN NOT ${HAS_REFERENCE} THEN 'no_answer'
      WHEN kind = 'numeric' AND i.answer::text !~ '[0-9]' THEN 'no_answer'
      WHEN kind = 'choice' AND NOT ${HAS_CHOICES} THEN 'no_choices'
      ELSE 'scored' END AS scoring, kind = 'regex' AS has_pattern,
      CASE WHEN kind = 'regex' THEN CASE WHEN json_typeof(stated) = 'object' AND json_typeof(stated -> 'pattern') <> 'null'
        THEN ${memberText(`stated -> 'pattern'`)} ELSE i.answer::text END END AS pattern,
      CASE WHEN kind = 'regex' AND json_typeof(stated) = 'object' THEN ${memberText(`stated -> 'flags'`)} END AS flags
    FROM (SELECT i.*, CASE
        WHEN json_typeof(stated) = 'string' AND btrim(stated::text, '" ') <> '' THEN btrim(stated::text, '" ')
        WHEN json_typeof(stated) = 'object' AND json_typeof(stated -> 'type') = 'string'
          THEN substr((stated -> 'type')::text, 2, length((stated -> 'type')::text) - 2)
        WHEN json_typeof(stated) = 'object' AND (stated -> 'path' IS NOT NULL OR stated -> 'data' IS NOT NULL) THEN 'script'
        WHEN i.type = 'exact' AND ${HAS_REFERENCE} THEN 'exact_match'
        WHEN i.type = 'numeric' AND ${HAS_REFERENCE} THEN 'numeric'
        WHEN i.type = 'multiple_choice' AND ${HAS_REFERENCE} AND ${HAS_CHOICES} THEN 'choice'
        WHEN ${asksForJudge} THEN 'judge'
        WHEN i.type = 'exact' THEN 'exact_match'
        WHEN i.type = 'numeric' THEN 'numeric'
        WHEN i.type = 'multiple_choice' THEN 'choice' END AS kind
      FROM (SELECT i.*, ${readableJson(`(${effective})`)} AS stated FROM (${source}) AS i) AS i) AS i`;
}

function hasDefaultPrompt(
  judge: NonNullable<ScoringFacts['judge']>,
  add: (value: unknown) => string,
): string {
  return `CASE WHEN i.type = ANY (${add(judge.promptTypes.map(insideJsonString))}::text[]) THEN true
    WHEN i.type = ANY (${add(judge.otherTypes.map(insideJsonString))}::text[]) THEN false
    ELSE ${judge.promptsOtherwise} END`;
}
