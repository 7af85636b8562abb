import { isJsonObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import type { MappableFeature } from './compile-mapping.ts';
import { isFileCell } from './file-cell.ts';
import type { Mapping } from './mapping.ts';
import { writeMapping } from './read-mapping.ts';
import { suggestAnswerRule } from './suggest-answer-rule.ts';

// What benchmarks call their columns, best first; compared without case, dashes and underscores.
const PROMPT_NAMES = names(
  'question prompt problem instruction query input inputs messages conversation conversations problem_statement task ' +
    'user_prompt question_text text sentence utterance ctx goal premise',
);
const TARGET_NAMES = names(
  'answer target expected_answer correct_answer answer_key final_answer label expected_output expected gold ' +
    'ground_truth reference reference_answer best_answer answers output response completion solution canonical_solution',
);
const CHOICE_NAMES = names('choices options answer_choices multiple_choices endings candidates');
/** Columns of one choice each: the names without their last character, which counts up. */
const CHOICE_SERIES = ['', 'option', 'choice', 'op', 'ending', 'sol', 'answer'];
const SYSTEM_NAMES = names('system_prompt system system_message');
const ID_NAMES = names('id task_id question_id example_id item_id uid uuid qid');
const CRITERIA_NAMES = names('criteria rubric rubrics grading_criteria');
const META_NAMES = names(
  'subject category topic domain difficulty level source subfield language task_type explanation rationale hint',
);
const TYPE_NAMES = names('type');

const MESSAGES = /^(?:large_)?list<struct<(?=.*\brole: )(?=.*\bcontent: )/;
const CHOICES = /^(?:(?:large_)?list<|struct<|json$|string$|large_string$|string_view$)/;
const TEXT = /^(?:string|large_string|string_view)$/;
const SCALAR = /^(?:string|large_string|string_view|u?int\d+|bool)$/;
const MEDIA = /^(?:image|audio|video|pdf|mesh|nifti|binary|large_binary)$/;

/** A suggested mapping, and why each of its members was chosen. */
export interface Suggestion {
  readonly mapping: Mapping;
  /** Member of the mapping, as requests name it → one sentence. */
  readonly reasons: Readonly<Record<string, string>>;
}

/**
 * Suggests how the columns of a dataset become items: by their names and types, and by the values of the rows. A column
 * that is null in all of the rows is not chosen.
 *
 * @param rows some rows, the first ones for instance
 * @param specified the columns that the dataset names itself, if it does; they are kept if they have values
 * @returns null where no column looks like a prompt
 *
 * @example suggestMapping([{ name: 'question', dtype: 'string' }, { name: 'answer', dtype: 'string' }])?.mapping
 * // { promptColumn: 'question', answerColumn: 'answer' }
 */
export function suggestMapping(
  features: readonly MappableFeature[],
  rows: readonly JsonObject[] = [],
  specified: Mapping | null = null,
): Suggestion | null {
  const used = features.filter(({ name, dtype }) => dtype !== 'null' && !isEmpty(name, rows));
  const known = new Set(used.map(({ name }) => name));
  const kept =
    specified !== null &&
    [specified.promptColumn, specified.answerColumn].every((name) => name === undefined || known.has(name));
  const base = kept ? fromDataset(specified) : fromNames(used, rows);
  if (base === null) return null;
  const answers = suggestAnswerRule(base.mapping, rows);
  return {
    mapping: { ...base.mapping, ...answers.mapping },
    reasons: { ...base.reasons, ...answers.reasons },
  };
}

function isEmpty(name: string, rows: readonly JsonObject[]): boolean {
  return rows.length > 0 && rows.every((row) => (row[name] ?? null) === null);
}

/** Whether a cell names a file whose bytes it lacks, which cannot become an asset. */
function isPathOnly(cell: JsonValue | undefined): boolean {
  if (!isJsonObject(cell) || !isFileCell(cell)) return false;
  return cell['bytes'] === null && (cell['path'] ?? null) !== null;
}

function fromDataset(mapping: Mapping): Suggestion {
  const reasonFor = (key: string): string =>
    `The dataset names its ${key === 'default_type' ? 'choices' : 'columns'} in eval.yaml.`;
  const keys = Object.keys(writeMapping(mapping));
  return { mapping, reasons: Object.fromEntries(keys.map((key) => [key, reasonFor(key)])) };
}

type MutableMapping = { -readonly [Name in keyof Mapping]: Mapping[Name] };

function fromNames(features: readonly MappableFeature[], rows: readonly JsonObject[]): Suggestion | null {
  const free = new Map(features.map((feature) => [feature.name, feature]));
  const reasons: Record<string, string> = {};
  const take = (
    wanted: readonly string[],
    fits: (feature: MappableFeature) => boolean,
    key: string,
    use: string,
  ): string | undefined => {
    for (const name of wanted) {
      const found = [...free.values()].find((feature) => plain(feature.name) === name && fits(feature));
      if (found === undefined) continue;
      free.delete(found.name);
      reasons[key] = `Column ${JSON.stringify(found.name)} has the name of ${use}.`;
      return found.name;
    }
    return undefined;
  };
  const choices = take(CHOICE_NAMES, ({ dtype }) => CHOICES.test(dtype), 'choices_column', 'choices');
  const series = choices === undefined ? choiceSeries(features) : [];
  for (const name of series) free.delete(name);
  const texts = features.filter(
    ({ name, dtype }) => TEXT.test(dtype) && !series.includes(name) && !ID_NAMES.includes(plain(name)),
  );
  const isPrompt = ({ dtype, classLabelNames }: MappableFeature): boolean =>
    (TEXT.test(dtype) || MESSAGES.test(dtype)) && !classLabelNames;
  let prompt = take(PROMPT_NAMES, isPrompt, 'prompt_column', 'a prompt');
  if (prompt === undefined && texts.length === 1) {
    prompt = texts[0]?.name;
    reasons['prompt_column'] = `Column ${JSON.stringify(prompt)} is the only one that holds texts.`;
  }
  if (prompt === undefined) return null;
  free.delete(prompt);

  const mapping: MutableMapping = { promptColumn: prompt };
  const answer = take(TARGET_NAMES, ({ dtype }) => !MEDIA.test(dtype), 'answer_column', 'an answer');
  if (answer !== undefined) mapping.answerColumn = answer;
  if (choices !== undefined) mapping.choicesColumn = choices;
  if (series.length > 0) {
    mapping.choicesColumns = series;
    reasons['choices_columns'] = `Columns ${series.map((name) => JSON.stringify(name)).join(', ')} count up.`;
  }
  if (choices !== undefined || series.length > 0) {
    mapping.defaultType = 'multiple_choice';
    reasons['default_type'] = 'The rows have choices.';
  }
  const isText = ({ dtype }: MappableFeature): boolean => TEXT.test(dtype);
  const system = take(SYSTEM_NAMES, isText, 'system_prompt_column', 'a system prompt');
  if (system !== undefined) mapping.systemPromptColumn = system;
  const isId = ({ dtype }: MappableFeature): boolean => TEXT.test(dtype) || /^u?int\d+$/.test(dtype);
  const id = take(ID_NAMES, isId, 'id_column', 'an id');
  if (id !== undefined) mapping.idColumn = id;
  const image = features.find(
    ({ name, dtype }) => dtype === 'image' && free.has(name) && rows.every((row) => !isPathOnly(row[name])),
  );
  if (image !== undefined) {
    mapping.assetsColumn = image.name;
    reasons['assets_column'] = `Column ${JSON.stringify(image.name)} holds images.`;
  }
  const named = (wanted: readonly string[]): string[] =>
    features
      .filter(
        ({ name, dtype }) =>
          free.has(name) && wanted.includes(plain(name)) && (wanted === CRITERIA_NAMES || SCALAR.test(dtype)),
      )
      .map(({ name }) => name);
  const criteria = named(CRITERIA_NAMES);
  if (criteria.length > 0) {
    mapping.criteriaColumns = criteria;
    reasons['criteria_columns'] = 'The names are those of criteria.';
  }
  const meta = named([...META_NAMES, ...TYPE_NAMES]);
  if (meta.length > 0) {
    mapping.metaColumns = Object.fromEntries(meta.map((name) => [name, name]));
    reasons['meta_columns'] = 'The names are those of facts about an item.';
  }
  return { mapping, reasons };
}

/** Columns that hold one choice each: `A` to `D`, `option_1` to `option_4`, `opa` to `opd`; none with fewer than two. */
function choiceSeries(features: readonly MappableFeature[]): string[] {
  const byName = new Map(
    features.filter(({ dtype }) => SCALAR.test(dtype)).map(({ name }) => [plain(name), name]),
  );
  for (const stem of CHOICE_SERIES) {
    for (const first of ['a', '1', '0']) {
      const found: string[] = [];
      for (let code = first.charCodeAt(0); ; code += 1) {
        const name = byName.get(stem + String.fromCharCode(code));
        if (name === undefined) break;
        found.push(name);
      }
      // Two columns of one letter may be anything.
      if (found.length >= (stem === '' ? 3 : 2)) return found;
    }
  }
  return [];
}

function names(text: string): string[] {
  return text.split(' ').map(plain);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}
