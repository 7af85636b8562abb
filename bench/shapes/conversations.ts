import type { Shape } from './shape.ts';
import { between, dumps, pick, prose } from './text.ts';

/** Chat messages with calls of tools, whose arguments are JSON in a string. */
export const CONVERSATIONS: Shape = {
  name: 'conversations',
  lineBytes: 1660,
  line: (next, index) => {
    const city = pick(next, ['Paris', 'Lagos', 'Lima', 'Osaka']);
    const call = `call_${between(next, 1e8, 1e9)}`;
    const args = JSON.stringify({ city, days: between(next, 1, 9), note: prose(next, 60) });
    return dumps({
      id: `chat-${index}`,
      inputs: {
        messages: [
          { role: 'system', content: prose(next, 200) },
          { role: 'user', content: `${prose(next, 300)}?` },
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: call, type: 'function', function: { name: 'weather', arguments: args } }],
          },
          { role: 'tool', tool_call_id: call, content: JSON.stringify({ city, sky: prose(next, 80) }) },
          { role: 'assistant', content: prose(next, 250) },
          { role: 'user', content: prose(next, 80) },
        ],
      },
      answer: { text: prose(next, 80), confidence: Math.round(next() * 100) / 100 },
      checker: { type: 'contains', value: city },
      meta: { source: 'chat', turns: 6 },
    });
  },
};
