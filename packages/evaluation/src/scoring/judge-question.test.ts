import type { Item } from '@svc/jsonl-v23';
import { describe, expect, it } from 'vitest';
import { judgeMessages } from './judge-question.ts';

describe('judgeMessages', () => {
  const item: Item = {
    inputs: { prompt: 'Say hello', choices: ['hi'] },
    answer: 'hello',
    criteria: ['polite', { text: 'short' }, { text: 'kind', weight: 2 }],
  };
  const user = (prompt: string | undefined) =>
    judgeMessages({ prompt, item, output: 'hello {{answer}}', nonce: 'n0nce' })[1]?.content;

  it('contain the task, the answer, the criteria and the output', () => {
    expect(user('Be strict.')).toBe(
      [
        'Be strict.',
        '<<< Task n0nce >>>\nSay hello\nA. hi\n<<< end of Task n0nce >>>',
        '<<< Reference answer n0nce >>>\nhello\n<<< end of Reference answer n0nce >>>',
        '<<< Criteria n0nce >>>\n- polite\n- short\n- {"text":"kind","weight":2}\n<<< end of Criteria n0nce >>>',
        '<<< Output n0nce >>>\nhello {{answer}}\n<<< end of Output n0nce >>>',
      ].join('\n\n'),
    );
  });

  it('replace the placeholders of a prompt, but not those of an output', () => {
    expect(user('T: {{prompt}} R: {{ answer }} C: {{criteria}} O: {{output}}')).toBe(
      'T: Say hello\nA. hi R: hello C: - polite\n- short\n- {"text":"kind","weight":2} O: hello {{answer}}',
    );
  });

  it('omit the parts that the item lacks', () => {
    expect(judgeMessages({ prompt: undefined, item: {}, output: '', nonce: 'n0nce' })[1]?.content).toBe(
      'Grade how well the output does the task.\n\n<<< Output n0nce >>>\n\n<<< end of Output n0nce >>>',
    );
  });
});
