import type { ScoringFacts } from '@svc/evaluation';
import { insideJsonString, memberText, readableJson } from '../../database/values.ts';

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;
const list = (values: readonly string[]): string => `ARRAY[${values.map(text).join(', ')}]::text[]`;

/** Whether an item has a reference answer. */
const HAS_REFERENCE = `(i.answer IS NOT NULL AND i.answer::text NOT IN ('null', '""', '[]'))`;
const hasElements = (path: string): string =>
  `CASE WHEN json_typeof(${path}) = 'array' THEN json_array_length(${path}) > 0 ELSE false END`;
const CHOICES = `(${readableJson('i.payload')} #> '{inputs,choices}')`;
const HAS_CHOICES = hasElements(CHOICES);

/** Whether the answer of an item with choices surely is one of them: its text, its index or its letter. */
const IS_CHOICE = `CASE
    WHEN json_typeof(i.answer) NOT IN ('string', 'number') THEN false
    WHEN i.answer::text ~ '^"?[0-9]{1,9}"?$' AND btrim(i.answer::text, '"')::int < json_array_length(${CHOICES}) THEN true
    WHEN EXISTS (SELECT FROM json_array_elements(${CHOICES}) AS choice
      WHERE ${memberText('choice')} = i.answer::text OR ${memberText(`choice -> 'text'`)} = i.answer::text) THEN true
    ELSE i.answer::text ~ '^"[A-Za-z]"$' AND ascii(upper(substr(i.answer::text, 2, 1))) - 64 <= json_array_length(${CHOICES})
      AND (NOT EXISTS (SELECT FROM json_array_elements(${CHOICES}) AS choice WHERE json_typeof(choice) = 'object')
        OR EXISTS (SELECT FROM json_array_elements(${CHOICES}) AS choice
          WHERE ${memberText(`choice -> 'label'`)} = i.answer::text)) END`;

/** The answer of an item without the escapes of JSON text, whose letters and digits are none of its own. */
const UNESCAPED = String.raw`regexp_replace(i.answer::text, '\\(u[0-9a-f]{4}|.)', ' ', 'g')`;

/** Whether the answer of an item surely has a number, in a text without an exponent. */
const HAS_NUMBER = `(json_typeof(i.answer) = 'number' OR (json_typeof(i.answer) = 'string'
    AND ${UNESCAPED} ~ '[0-9]' AND i.answer::text !~ '[0-9][eE]'))`;

/** Whether the answer of an item surely has more than blanks. */
const HAS_TEXT = `(${UNESCAPED} ~ '[A-Za-z0-9]')`;

/**
 * SQL for how an item is scored: `scored`, `judged`, `doubtful` if only its checker can tell, or why it cannot be:
 * `no_checker`, `no_answer`, `no_choices`, `no_judge`, `unknown_checker`. It decides as the workers do (`planCheck` of @svc/evaluation) without an output, and
 * reads no more of an item than it needs.
 *
 * @returns the columns `scoring`, `kind` of the checker, `answer` and `choices` as JSON texts, and of items with a `regex`
 * checker `pattern` and `flags` as JSON texts, of the rows of `source`, which has the columns of `items i`
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
      WHEN kind = 'json_equal' AND i.answer::text = '[]' THEN 'scored'
      WHEN NOT ${HAS_REFERENCE} THEN 'no_answer'
      WHEN kind = 'numeric' AND i.answer::text !~ '[0-9]' THEN 'no_answer'
      WHEN kind = 'choice' AND NOT ${HAS_CHOICES} THEN 'no_choices'
      WHEN kind = 'choice' AND NOT ${IS_CHOICE} THEN 'doubtful'
      WHEN kind = 'numeric' AND NOT ${HAS_NUMBER} THEN 'doubtful'
      WHEN kind = 'includes' AND NOT ${HAS_TEXT} THEN 'doubtful'
      ELSE 'scored' END AS scoring, kind, i.answer::text AS answer,
      CASE WHEN kind = 'choice' THEN ${memberText(CHOICES)} END AS choices, kind = 'regex' AS has_pattern,
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
