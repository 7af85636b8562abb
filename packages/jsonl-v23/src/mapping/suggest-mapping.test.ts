import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { compileMapping, type MappableFeature } from './compile-mapping.ts';
import type { Mapping } from './mapping.ts';
import { suggestMapping } from './suggest-mapping.ts';

function dtypeOf(cell: JsonValue | undefined): string {
  if (typeof cell === 'number') return 'int64';
  if (typeof cell === 'boolean') return 'bool';
  if (Array.isArray(cell)) return `list<${dtypeOf(cell[0])}>`;
  if (typeof cell !== 'object' || cell === null) return 'string';
  const members = Object.entries(cell as JsonObject).map(([name, value]) => `${name}: ${dtypeOf(value)}`);
  return `struct<${members.join(', ')}>`;
}

const featuresOf = ([row = {}]: readonly JsonObject[]): MappableFeature[] =>
  Object.entries(row).map(([name, cell]) => ({ name, dtype: dtypeOf(cell) }));

const suggest = (rows: readonly JsonObject[]) => suggestMapping(featuresOf(rows), rows);

/** Rows with other values of one column. */
const rowsOf = (row: JsonObject, column: string, cells: readonly JsonValue[]): JsonObject[] =>
  cells.map((cell) => ({ ...row, [column]: cell }));

const CHOICES = { question: 'Q', choices: ['w', 'x', 'y', 'z'] };

describe('what the answers are', () => {
  it.each<[string, JsonObject[], Partial<Mapping>]>([
    ['indexes where 0 occurs', rowsOf(CHOICES, 'answer', [1, 0, 2]), { answerIs: 'index' }],
    ['indexes as texts', rowsOf(CHOICES, 'answer', ['3', '0']), { answerIs: 'index' }],
    ['numbers where the last choice is meant', rowsOf(CHOICES, 'answer', [1, 4]), { answerIs: 'number' }],
    ['numbers as texts', rowsOf(CHOICES, 'answer', ['4', '2']), { answerIs: 'number' }],
    [
      'numbers where the last of fewer choices is meant',
      [
        { ...CHOICES, answer: 1 },
        { question: 'Q', choices: ['w', 'x'], answer: 2 },
      ],
      { answerIs: 'number' },
    ],
    ['letters', rowsOf(CHOICES, 'answer', ['a', 'D']), { answerIs: 'letter' }],
    ['texts', rowsOf(CHOICES, 'answer', ['x', 'Y']), {}],
    ['texts that are numbers', [{ question: 'Q', choices: ['7', '8'], answer: 8 }], {}],
    [
      'labels',
      [{ question: 'Q', choices: { text: ['x', 'y'], label: ['1', '2'] }, answer: '1' }],
      { answerIs: 'label' },
    ],
    ['labels of a map', [{ question: 'Q', choices: { A: 'x', B: 'y' }, answer: 'B' }], { answerIs: 'label' }],
    ['several letters', rowsOf(CHOICES, 'answer', [['A', 'C'], ['B']]), { answerIs: 'letter' }],
    ['letters, with hidden ones', rowsOf(CHOICES, 'answer', ['A', '', null]), { answerIs: 'letter' }],
  ])('%s', (_, rows, more) => {
    const suggestion = suggest(rows);
    expect(suggestion?.mapping).toEqual({
      promptColumn: 'question',
      answerColumn: 'answer',
      choicesColumn: 'choices',
      defaultType: 'multiple_choice',
      ...more,
    });
    expect(suggestion?.warnings).toEqual([]);
  });

  it.each<[string, JsonObject[], RegExp]>([
    [
      'may count from 0 or from 1',
      rowsOf(CHOICES, 'answer', [1, 2, 3]),
      /column "answer".*1 is the index of a choice, counted from 0 \("answer_is": "index"\) or the number of a choice, counted from 1 \("answer_is": "number"\)/,
    ],
    [
      'may be texts or places',
      [{ question: 'Q', choices: ['4', '2', '1'], answer: '1' }],
      /"1" is the text of a choice .*"index".*"number"/,
    ],
    ['are no choices', rowsOf(CHOICES, 'answer', [1, 9]), /column "answer" name none of the choices/],
  ])('states no rule for answers that %s, and warns', (_, rows, warning) => {
    const suggestion = suggest(rows);
    expect(suggestion?.mapping).toMatchObject({ answerColumn: 'answer', choicesColumn: 'choices' });
    expect(suggestion?.mapping).not.toHaveProperty('answerIs');
    expect(suggestion?.warnings).toEqual([expect.stringMatching(warning)]);
  });

  it('takes the column that decides, of several with the names of answers', () => {
    const rows = [1, 2].map((place) => ({ ...CHOICES, answer: place, answer_key: 'ABC'[place] as string }));
    expect(suggest(rows)).toMatchObject({ mapping: { answerColumn: 'answer_key' }, warnings: [] });
  });
});

describe('the prompt', () => {
  const LONG = 'a text of some length';
  it.each<[string, JsonObject, Mapping['promptTemplate']]>([
    [
      'SQuAD',
      { id: '5', title: 't', context: LONG, question: 'Q', answers: { text: ['x'] } },
      '{context}\n\n{question}',
    ],
    ['BoolQ', { question: 'q', answer: true, passage: LONG }, '{passage}\n\n{question}'],
    ['DROP', { section_id: 's', query_id: 'q', passage: LONG, question: 'Q' }, '{passage}\n\n{question}'],
    ['RACE', { article: LONG, answer: 'A', question: 'Q', options: ['x', 'y'] }, '{article}\n\n{question}'],
    ['XNLI', { premise: LONG, hypothesis: 'H', label: 1 }, '{premise}\n\n{hypothesis}'],
    ['pairs of sentences', { sentence1: 'a', sentence2: 'b', label: 1 }, '{sentence1}\n\n{sentence2}'],
    ['Belebele', { flores_passage: LONG, question: 'Q' }, '{flores_passage}\n\n{question}'],
    ['instructions', { instruction: 'I', input: 'x', output: 'y' }, '{instruction}\n\n{input}'],
    ['instructions without input', { instruction: 'I', input: '', output: 'y' }, undefined],
    ['a passage in a list', { question: 'Q', context: [LONG] }, undefined],
  ])('of %s', (_, row, promptTemplate) => {
    const mapping = suggest([row])?.mapping;
    expect(mapping?.promptTemplate).toBe(promptTemplate);
    expect(mapping?.promptColumn === undefined).toBe(promptTemplate !== undefined);
  });

  it('leaves out a passage that some rows lack, and says so', () => {
    const suggestion = suggest(rowsOf({ question: 'Q' }, 'context', ['c', null]));
    expect(suggestion?.mapping).toEqual({ promptColumn: 'question' });
    expect(suggestion?.warnings).toEqual([expect.stringContaining('"context"')]);
  });

  it.each<[string, JsonObject]>([
    ['a category beside a list of turns', { category: 'writing', turns: ['a', 'b'] }],
    ['a category beside a question that is a list', { question: ['a', 'b'], Category: 'writing' }],
    ['a kind beside other turns', { exam_kind: 'x', conversations: [{ from: 'human', value: 'v' }] }],
    ['another fact beside turns', { note_on_it: 'x', dialogue: [{ from: 'human', value: 'v' }] }],
    ['a subject', { subject_name: 'Anatomy' }],
    ['a source', { source_url: 'https://example.org', n: 1 }],
    ['a level', { Level: 'hard' }],
    ['an id', { questionId: 'q-7' }],
  ])('is never %s', (_, row) => expect(suggest([row])).toBeNull());

  it('is never a column of few short texts that repeat, whatever its name', () => {
    const kinds = ['add', 'sub', 'add', 'sub', 'add', 'sub'];
    expect(suggest(rowsOf({}, 'rubrik', kinds))).toBeNull();
    const rows = kinds.map((task, index) => ({ task, text: `What is ${index}?` }));
    expect(suggest(rows)?.mapping.promptColumn).toBe('text');
  });

  it('is a conversation by its values', () => {
    const messages = [{ role: 'user', content: 'Q' }];
    const features = [
      { name: 'category', dtype: 'string' },
      { name: 'messages', dtype: 'json' },
    ];
    expect(suggestMapping(features, [{ category: 'c', messages }])?.mapping).toMatchObject({
      promptColumn: 'messages',
    });
  });
});

describe('columns of choices', () => {
  it.each<[string, JsonObject, Partial<Mapping>]>([
    [
      'GPQA',
      { Question: 'Q', 'Correct Answer': 'r', 'Incorrect Answer 1': 'a', 'Incorrect Answer 2': 'b' },
      {
        choicesColumns: ['Correct Answer', 'Incorrect Answer 1', 'Incorrect Answer 2'],
        answerColumn: 'Correct Answer',
      },
    ],
    [
      'SciQ',
      { question: 'Q', distractor2: 'b', distractor1: 'a', correct_answer: 'r', support: 's' },
      { choicesColumns: ['correct_answer', 'distractor2', 'distractor1'], answerColumn: 'correct_answer' },
    ],
    [
      'Belebele',
      { question: 'Q', mc_answer1: 'x', mc_answer2: 'y' },
      { choicesColumns: ['mc_answer1', 'mc_answer2'] },
    ],
    [
      'PIQA',
      { goal: 'G', sol1: 'x', sol2: 'y', label: 0 },
      { choicesColumns: ['sol1', 'sol2'], answerColumn: 'label' },
    ],
    [
      'options from 0',
      { question: 'Q', option_0: 'x', option_1: 'y' },
      { choicesColumns: ['option_0', 'option_1'] },
    ],
    [
      'MedQA',
      { question: 'q?', options: { A: 'a1', B: 'b1', C: 'c1' }, answer: 'b1', answer_idx: 'B' },
      { choicesColumn: 'options', answerColumn: 'answer' },
    ],
  ])('of %s', (_, row, more) => expect(suggest([row])?.mapping).toMatchObject(more));

  it('are not those of two answers of models', () => {
    const row = { question: 'Q', model_answer_1: 'x', model_answer_2: 'y' };
    expect(suggest([row])?.mapping).toEqual({ promptColumn: 'question' });
  });

  it('warns where the right choice is always the first', () => {
    const row = { question: 'Q', correct_answer: 'r', incorrect_answer: 'w' };
    expect(suggest([row])?.warnings).toEqual([expect.stringContaining('first one of every item')]);
  });
});

describe('a suggestion', () => {
  it.each<[string, JsonObject[]]>([
    ['choices of no form', [{ question: 'Q', options: 'yes or no', answer: 'yes' }]],
    ['choices of two forms', rowsOf({ question: 'Q', answer: 'x' }, 'options', [['x', 'y'], 'x, y'])],
    ['a gap in the choices', [{ question: 'Q', A: 'x', B: null, C: 'z', answer: 'C' }]],
    ['a template with braces', [{ question: 'Q', '{context}': 'c' }]],
    ['a prompt that some rows lack', rowsOf({ answer: 'x' }, 'question', ['Q', null])],
  ])('with %s makes items of the rows', (_, rows) => {
    const features = featuresOf(rows);
    const { mapping } = suggestMapping(features, rows) ?? {};
    expect(mapping).toBeDefined();
    const toItem = compileMapping(mapping as Mapping, features);
    for (const row of rows) {
      const isSkipped = row['question'] === null && mapping?.invalidRows === 'skip';
      if (!isSkipped) expect(toItem(row, 0)).toMatchObject({ inputs: { prompt: 'Q' } });
    }
  });
});
