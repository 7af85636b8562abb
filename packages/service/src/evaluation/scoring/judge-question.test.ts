import type { Item } from '@svc/jsonl-v23';
import { describe, expect, it } from 'vitest';
import { judgeQuestion } from './judge-question.ts';

/** What the judge is asked after its instruction. */
function asked(item: Item, output: string, prompt?: string): string {
  const options = prompt === undefined ? {} : { judge_prompt: prompt };
  const question = judgeQuestion({ item, output, options }, null, 'chat_completions', 'n0nce');
  return JSON.parse(new TextDecoder().decode(question.conversationJson)).messages[1].content;
}

describe('judgeQuestion', () => {
  const item: Item = {
    inputs: { prompt: 'Say hello', choices: ['hi'] },
    answer: 'hello',
    criteria: ['polite', { text: 'short' }, { text: 'kind', weight: 2 }],
  };
  const user = (prompt: string) => asked(item, 'hello {{answer}}', prompt);

  it('contains the task, the answer, the criteria and the output', () => {
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

  it('replaces the placeholders of a prompt, but not those of an output', () => {
    expect(user('T: {{prompt}} R: {{ answer }} C: {{criteria}} O: {{output}}')).toBe(
      'T: Say hello\nA. hi R: hello C: - polite\n- short\n- {"text":"kind","weight":2} O: hello {{answer}}',
    );
  });

  it('omits the parts that the item lacks', () => {
    expect(asked({}, '')).toBe(
      'Grade how well the output does the task.\n\n<<< Output n0nce >>>\n\n<<< end of Output n0nce >>>',
    );
  });
});
