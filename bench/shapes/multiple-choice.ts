import type { Shape } from './shape.ts';
import { dumps, pick, prose } from './text.ts';

/** Choices, the letter of the right one, and a checker object. */
export const MULTIPLE_CHOICE: Shape = {
  name: 'multiple-choice',
  lineBytes: 470,
  line: (next, index) =>
    dumps({
      id: `mc-${index}`,
      type: 'multiple_choice',
      inputs: {
        prompt: `${prose(next, 100)}?`,
        choices: [40, 30, 35, 25].map((bytes) => prose(next, bytes)),
      },
      answer: pick(next, ['A', 'B', 'C', 'D']),
      checker: { type: 'exact_match', ignore_case: true },
      meta: { subject: pick(next, ['law', 'physics', 'history']), level: 2 },
      tags: ['mmlu', 'test'],
    }),
};
