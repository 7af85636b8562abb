type ColumnUseName = 'prompt' | 'turns' | 'target' | 'choices' | 'system' | 'id' | 'criteria' | 'meta';

/** What benchmarks call their columns, best first; compared without case, dashes, underscores and spaces. */
const NAMES: Readonly<Record<ColumnUseName, string>> = {
  prompt:
    'question prompt problem instruction query input inputs messages conversation conversations problem_statement ' +
    'question_stem stem task user_prompt question_text text sentence utterance ctx goal premise',
  /** Lists of turns, which are no prompt by themselves. */
  turns: 'turns dialog dialogue dialogues history chat',
  target:
    'answer target expected_answer correct_answer answer_key final_answer label expected_output expected gold ' +
    'ground_truth reference reference_answer best_answer answers output response completion solution canonical_solution',
  choices: 'choices options answer_choices multiple_choices endings candidates',
  system: 'system_prompt system system_message',
  id: 'id task_id question_id example_id item_id uid uuid qid',
  criteria: 'criteria rubric rubrics grading_criteria',
  meta:
    'subject category topic domain difficulty level source subfield language task_type explanation rationale hint ' +
    'type',
};

/** What columns are for, by their plain names. */
export const COLUMN_NAMES: Readonly<Record<ColumnUseName, readonly string[]>> = Object.fromEntries(
  Object.entries(NAMES).map(([use, names]) => [use, names.split(' ').map(plainName)]),
) as Record<ColumnUseName, string[]>;

export function plainName(name: string): string {
  return name.toLowerCase().replace(/[-_ ]/g, '');
}

/** Last words of names whose values tell about a row, and are no question. */
const FACTS = new Set(
  (
    'id ids idx index uid uuid guid key hash number num no count category categories class kind type types label labels ' +
    'name title source src url uri link path file subject subjects topic topics domain subdomain field subfield area ' +
    'discipline genre level grade difficulty language lang locale country split subset set dataset config version license ' +
    'author annotator model date time year tag tags status group section chapter explanation rationale hint comment note ' +
    'notes metadata info'
  ).split(' '),
);

/** Whether a name names a fact about a row, such as a category, an id, a source or a level. */
export function isFactName(name: string): boolean {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  return FACTS.has(words.at(-1) ?? '');
}

/** Last words of names of a text that a question is about. */
const PASSAGE =
  /(?:context|passage|article|paragraph|document|story|narrative|scenario|excerpt|transcript|premise)$/;

export const isPassageName = (name: string): boolean => PASSAGE.test(plainName(name));

/** Texts that make one question with another. */
const OTHER_HALVES = new Map([
  ['premise', 'hypothesis'],
  ['instruction', 'input'],
]);
const FIRST_OF_TWO = /^(sentence|text|question|utterance)(1|a)$/;

/** The plain name of the text that makes one question with this one; null if this is a question alone. */
export function otherHalfOf(name: string): string | null {
  const plain = plainName(name);
  const [, stem, first] = FIRST_OF_TWO.exec(plain) ?? [];
  if (stem !== undefined) return `${stem}${first === '1' ? '2' : 'b'}`;
  return OTHER_HALVES.get(plain) ?? null;
}

/** Names of answers, by their words: `cop`, `correct_option`, `answer_number`, `mc_answer_idx`. */
const ANSWER =
  /^(?:cop|(?:correct|right|gold|golden|true|target)|(?:correct|right|gold|golden|true|expected|final|target|reference|numeric)?(?:answer|ans|option|choice|label|target|solution)(?:key|index|idx|num|number|letter|label|text|choice|option|value)?|(?:correct|right|gold|target|true)(?:index|idx|num|number|letter|key|id))s?$/;

export const isAnswerName = (name: string): boolean => ANSWER.test(plainName(name));

export const isNumberName = (name: string): boolean =>
  /(?:final|numeric).*|num(?:ber)?$/.test(plainName(name));

/** Names before their last character, which counts up: columns of one choice each. */
const SERIES =
  /^(?:|(?:mc|multiplechoice|possible|candidate|answer)?(?:option|choice|answer|ending|alternative|candidate)|opt?|sol|solution|ans)$/;

/** Whether columns that begin with this plain name and count up may hold one choice each. */
export const isSeriesStem = (stem: string): boolean => SERIES.test(stem);

/** Whether a name names the right choice beside wrong ones, or a wrong one. */
export const isRightName = (name: string): boolean =>
  /^(?:correct|right|best|true)(?:answer|choice|option)?$/.test(plainName(name));
export const isWrongName = (name: string): boolean =>
  /^(?:(?:incorrect|wrong|false)(?:answer|choice|option)?|distractor)[0-9a-f]?$/.test(plainName(name));
