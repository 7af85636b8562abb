import { type Item, parseItem } from '@svc/jsonl-v23';
import { ExactNumber } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { buildMessages } from './build-messages.ts';

const png = 'iVBORw0KGgo=';

describe('buildMessages', () => {
  it.each<[string, Item, unknown]>([
    ['a prompt', { inputs: { prompt: 'Q' } }, [{ role: 'user', content: 'Q' }]],
    [
      'a system prompt before it',
      { inputs: { prompt: 'Q', system_prompt: 'S' } },
      [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Q' },
      ],
    ],
    [
      'an empty or null system prompt as none',
      { inputs: { prompt: 'Q', system_prompt: null } },
      [{ role: 'user', content: 'Q' }],
    ],
    [
      'messages as they are, other members too',
      {
        inputs: {
          messages: [
            { role: 'user', content: 'a', name: 'n' },
            { role: 'assistant', content: null, tool_calls: [] },
          ],
        },
      },
      [
        { role: 'user', content: 'a', name: 'n' },
        { role: 'assistant', content: null, tool_calls: [] },
      ],
    ],
    [
      'a system prompt that the messages begin with, once',
      {
        inputs: {
          system_prompt: 'S',
          messages: [
            { role: 'system', content: 'S' },
            { role: 'user', content: 'Q' },
          ],
        },
      },
      [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'Q' },
      ],
    ],
    [
      'a prompt after messages',
      {
        inputs: {
          messages: [
            { role: 'user', content: 'a' },
            { role: 'assistant', content: 'b' },
          ],
          prompt: 'c',
        },
      },
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    ],
    [
      'a prompt that is the last message, once',
      { inputs: { messages: [{ role: 'user', content: 'a' }], prompt: 'a' } },
      [{ role: 'user', content: 'a' }],
    ],
    [
      'choices under the question',
      { inputs: { prompt: 'Q', choices: ['x', new ExactNumber('12345678901234567890')] } },
      [{ role: 'user', content: 'Q\n\nA. x\nB. 12345678901234567890' }],
    ],
    [
      'choices without a question',
      { inputs: { choices: ['x', 'y'] } },
      [{ role: 'user', content: 'A. x\nB. y' }],
    ],
    [
      'choices in the last user message',
      { inputs: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Q' }] }], choices: ['x'] } },
      [{ role: 'user', content: [{ type: 'text', text: 'Q\n\nA. x' }] }],
    ],
    [
      'choices after an assistant message',
      { inputs: { messages: [{ role: 'assistant', content: 'Hi' }], choices: ['x'] } },
      [
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: 'A. x' },
      ],
    ],
    [
      'images, embedded and remote, in order',
      parseItem({
        inputs: { prompt: 'Q' },
        assets: [
          { mime_type: 'image/png', encoding: 'base64', data: png },
          'https://host/a.jpg?x=1',
          { mime_type: 'audio/mpeg', url: 'https://host/a.mp3' },
          { mime_type: 'image/png', path: 'assets/elsewhere.png' },
          { mime_type: 'image/png', url: 'file:///etc/passwd' },
        ],
      }),
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Q' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
            { type: 'image_url', image_url: { url: 'https://host/a.jpg?x=1' } },
          ],
        },
      ],
    ],
    [
      'an image alone',
      parseItem({ assets: { a: { mime_type: 'image/png', data: png } } }),
      [
        {
          role: 'user',
          content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
        },
      ],
    ],
    [
      'choices before images',
      parseItem({ inputs: { prompt: 'Q', choices: ['x'] }, assets: { a: 'https://host/a.png' } }),
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Q\n\nA. x' },
            { type: 'image_url', image_url: { url: 'https://host/a.png' } },
          ],
        },
      ],
    ],
  ])('writes %s', (_name, item, expected) => {
    const before = structuredClone(item);
    expect(buildMessages(item)).toEqual(expected);
    expect(structuredClone(item)).toEqual(before);
  });

  it.each<[Item]>([
    [{}],
    [{ inputs: {} }],
    [{ inputs: { messages: [], choices: [] } }],
    [{ inputs: { question: 'x' } }],
    [{ assets: { a: { url: 'https://h/a.mp3' } } }],
  ])('rejects %j', (item) =>
    expect(() => buildMessages(item)).toThrow(expect.objectContaining({ code: 'item_without_prompt' })),
  );
});
