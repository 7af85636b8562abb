import type { Shape } from './shape.ts';
import { dumps, prose } from './text.ts';

/** A document of 50 kB with a question. */
export const LONG_DOCUMENTS: Shape = {
  name: 'long-documents',
  lineBytes: 50_200,
  line: (next, index) =>
    dumps({
      id: `doc-${index}`,
      inputs: { prompt: `${prose(next, 50_000)}\n\n${prose(next, 60)}?` },
      answer: prose(next, 60),
      meta: { pages: 20 },
    }),
};
