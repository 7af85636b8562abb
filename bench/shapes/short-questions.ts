import type { Shape } from './shape.ts';
import { between, dumps, prose } from './text.ts';

/** A question and its answer in 110 bytes. */
export const SHORT_QUESTIONS: Shape = {
  name: 'short-questions',
  lineBytes: 110,
  line: (next, index) =>
    dumps({ id: index, inputs: { prompt: `${prose(next, 55)}?` }, answer: String(between(next, 0, 1000)) }),
};
