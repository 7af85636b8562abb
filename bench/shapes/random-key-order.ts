import type { Shape } from './shape.ts';
import { between, dumps, prose } from './text.ts';

function shuffled(next: () => number, object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const members = Object.entries(object);
  for (let index = members.length - 1; index > 0; index -= 1) {
    const other = between(next, 0, index + 1);
    [members[index], members[other]] = [
      members[other] as [string, unknown],
      members[index] as [string, unknown],
    ];
  }
  return Object.fromEntries(members);
}

/** Items whose keys, and those of their objects, have another order each time, as sets and hash maps write them. */
export const RANDOM_KEY_ORDER: Shape = {
  name: 'random-key-order',
  lineBytes: 550,
  line: (next, index) =>
    dumps(
      shuffled(next, {
        id: `q${index}`,
        type: 'exact',
        inputs: shuffled(next, {
          prompt: `${prose(next, 120)}?`,
          system_prompt: 'Answer briefly.',
          hint: null,
        }),
        answer: prose(next, 20),
        checker: shuffled(next, { type: 'exact_match', ignore_case: false, strip: true }),
        meta: shuffled(next, {
          source: 'generated',
          row: index,
          score: Math.round(next() * 1000) / 1000,
          split: 'test',
          year: 2024,
          author: prose(next, 12),
          license: 'mit',
          is_public: true,
        }),
        tags: ['a', 'b'],
        criteria: [prose(next, 20)],
      }),
    ),
};
