import type { JsonObject } from '@svc/jsonl-v23/json';

/** Rows as a benchmark publishes them, and what a model that is always right answers. */
export interface BenchmarkTable {
  readonly name: string;
  readonly rows: readonly JsonObject[];
  /** For each row the index of the right choice, or the right number as text. */
  readonly right: readonly (number | string)[];
}

const LETTERS = ['A', 'B', 'C', 'D'];
const PLACES = [1, 2, 0, 3, 2];
const times = <Row>(places: readonly number[], row: (place: number, index: number) => Row): Row[] =>
  places.map(row);
const four = (index: number): string[] =>
  ['red', 'green', 'blue', 'grey'].map((colour) => `${colour} ${index}`);
const columns = (names: readonly string[], texts: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));

/** The layouts of ten benchmarks; the rows are our own. */
export const BENCHMARK_TABLES: readonly BenchmarkTable[] = [
  {
    name: 'MMLU',
    rows: times(PLACES, (place, index) => ({
      question: `What colour is stone ${index}?`,
      subject: 'mineralogy',
      choices: four(index),
      answer: place,
    })),
    right: PLACES,
  },
  {
    name: 'MMLU-Pro',
    rows: times(PLACES, (place, index) => ({
      question_id: 70 + index,
      question: `Which colour has stone ${index}?`,
      options: [...four(index), 'N/A', 'white'].slice(0, 4 + (index % 3)),
      answer: LETTERS[place] as string,
      answer_index: place,
      cot_content: '',
      category: 'mineralogy',
      src: 'own',
    })),
    right: PLACES,
  },
  {
    name: 'KMMLU',
    rows: times(PLACES, (place, index) => ({
      question: `돌 ${index}의 색은?`,
      answer: place + 1,
      ...columns(LETTERS, four(index)),
      Category: 'Geology',
      'Human Accuracy': 0.5,
    })),
    right: PLACES,
  },
  {
    name: 'C-Eval',
    rows: times(PLACES, (place, index) => ({
      id: index,
      question: `石头 ${index} 是什么颜色?`,
      ...columns(LETTERS, four(index)),
      answer: LETTERS[place] as string,
      explanation: '',
    })),
    right: PLACES,
  },
  {
    name: 'WinoGrande',
    rows: times([0, 1, 1, 0], (place, index) => ({
      sentence: `The cup does not fit in the bag because the _ is too ${index % 2 === 0 ? 'big' : 'small'}.`,
      option1: 'cup',
      option2: 'bag',
      answer: String(place + 1),
    })),
    right: [0, 1, 1, 0],
  },
  {
    name: 'SocialIQA',
    rows: times([0, 2, 1, 1], (place, index) => ({
      context: `Kim lent book ${index} to Lee.`,
      question: 'What will Lee do next?',
      answerA: `read it (${index})`,
      answerB: `sell it (${index})`,
      answerC: `paint it (${index})`,
      label: String(place + 1),
    })),
    right: [0, 2, 1, 1],
  },
  {
    name: 'MedQA',
    rows: times(PLACES, (place, index) => ({
      question: `A patient with sign ${index} needs which treatment?`,
      answer: four(index)[place] as string,
      options: columns(LETTERS, four(index)),
      meta_info: 'step1',
      answer_idx: LETTERS[place] as string,
      metamap_phrases: ['patient', 'sign'],
    })),
    right: PLACES,
  },
  {
    name: 'ARC',
    rows: times(PLACES, (place, index) => {
      const label = index % 2 === 0 ? LETTERS : ['1', '2', '3', '4'];
      return {
        id: `Q_${index}`,
        question: `Which stone of shelf ${index} melts first?`,
        choices: { text: four(index), label },
        answerKey: label[place] as string,
      };
    }),
    right: PLACES,
  },
  {
    name: 'HellaSwag',
    rows: times(PLACES, (place, index) => ({
      ind: 20 + index,
      activity_label: 'Painting',
      ctx_a: `A man paints stone ${index}.`,
      ctx_b: 'he',
      ctx: `A man paints stone ${index}. he`,
      endings: four(index).map((colour) => `makes it ${colour}.`),
      source_id: `video~${index}`,
      split: 'val',
      split_type: 'indomain',
      label: String(place),
    })),
    right: PLACES,
  },
  {
    name: 'GSM8K',
    rows: times(PLACES, (place, index) => ({
      question: `A box holds ${place} stones. How many do 100 boxes hold, and ${index} more?`,
      answer: `A box holds ${place}.\nThat is 100 * ${place} + ${index} = <<100*${place}+${index}=${100 * place + index}>>.\n#### ${100 * place + index}`,
    })),
    right: PLACES.map((place, index) => String(100 * place + index)),
  },
  {
    name: 'MedMCQA from 0',
    rows: times(PLACES, (place, index) => ({
      id: `m-${index}`,
      question: `Sign ${index} shows in:`,
      ...columns(['opa', 'opb', 'opc', 'opd'], four(index)),
      cop: place,
      choice_type: 'single',
      exp: 'Because.',
      subject_name: 'Anatomy',
      topic_name: 'Bones',
    })),
    right: PLACES,
  },
  {
    name: 'MedMCQA from 1',
    rows: times(PLACES, (place, index) => ({
      question: `Sign ${index} shows in:`,
      ...columns(['opa', 'opb', 'opc', 'opd'], four(index)),
      cop: place + 1,
      subject_name: 'Anatomy',
    })),
    right: PLACES,
  },
  {
    name: 'MGSM',
    rows: times(PLACES, (place, index) => ({
      question: `In einer Kiste sind ${place} Steine. Wie viele sind in 100?`,
      answer:
        index === 0 ? `Schritt für Schritt: 100 * ${place} = ${100 * place}. Also ${100 * place}.` : null,
      answer_number: 100 * place,
      equation_solution: null,
    })),
    right: PLACES.map((place) => String(100 * place)),
  },
  {
    name: 'LogiQA',
    rows: times(PLACES, (place, index) => ({
      context: `All stones of shelf ${index} are heavy.`,
      query: 'Which of the following follows?',
      options: four(index),
      correct_option: place,
    })),
    right: PLACES,
  },
  {
    name: 'OpenBookQA',
    rows: times(PLACES, (place, index) => ({
      id: `o-${index}`,
      question_stem: `Stone ${index} was`,
      choices: { text: four(index), label: LETTERS },
      answerKey: LETTERS[place] as string,
    })),
    right: PLACES,
  },
  {
    name: 'GPQA',
    rows: times(PLACES, (_, index) => ({
      Question: `Which isotope ${index} decays first?`,
      'Correct Answer': `right ${index}`,
      'Incorrect Answer 1': `wrong a ${index}`,
      'Incorrect Answer 2': `wrong b ${index}`,
      'Incorrect Answer 3': `wrong c ${index}`,
      Explanation: 'Because.',
      Subdomain: 'Physics',
      'Record ID': `rec${index}`,
    })),
    right: PLACES.map(() => 0),
  },
  {
    name: 'Belebele',
    rows: times(PLACES, (place, index) => ({
      link: 'https://example.org/a',
      question_number: index,
      flores_passage: `Stone ${index} lies by the river.`,
      question: `Where is stone ${index}?`,
      ...columns(['mc_answer1', 'mc_answer2', 'mc_answer3', 'mc_answer4'], four(index)),
      correct_answer_num: String(place + 1),
      dialect: 'eng_Latn',
      ds: '2023-05-03',
    })),
    right: PLACES,
  },
  {
    name: 'RACE',
    rows: times(PLACES, (place, index) => ({
      example_id: `high${index}.txt`,
      article: `Stone ${index} was found by a child.`,
      answer: LETTERS[place] as string,
      question: `Who found stone ${index}?`,
      options: four(index),
    })),
    right: PLACES,
  },
  {
    name: 'CommonsenseQA',
    rows: times(PLACES, (place, index) => ({
      id: `c-${index}`,
      question: `Where would you put stone ${index}?`,
      question_concept: 'stone',
      choices: { label: LETTERS, text: four(index) },
      answerKey: LETTERS[place] as string,
    })),
    right: PLACES,
  },
  {
    name: 'PIQA',
    rows: times([0, 1, 1, 0], (place, index) => ({
      goal: `Lift stone ${index}`,
      sol1: `with a lever ${index}`,
      sol2: `with a feather ${index}`,
      label: place,
    })),
    right: [0, 1, 1, 0],
  },
  {
    name: 'options as a Python list',
    rows: times(PLACES, (place, index) => ({
      narrative: `Stone ${index} is gone.`,
      question: 'Who took it?',
      choices: `['red ${index}', "it's green ${index}", 'blue ${index}', 'grey ${index}']`,
      answer_index: place,
    })),
    right: PLACES,
  },
  {
    name: 'numbers from 1 as numbers',
    rows: times([1, 2, 3, 0], (place, index) => ({
      question: `q${index}`,
      answer: place + 1,
      ...columns(LETTERS, four(index)),
    })),
    right: [1, 2, 3, 0],
  },
];
