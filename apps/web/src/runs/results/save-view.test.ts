import { describe, expect, it } from 'vitest';
import type { Result } from '../queries.ts';
import { cellText, metaKey } from './result-columns.tsx';
import { csvLine } from './save-view.tsx';

describe('csvLine', () => {
  it('quotes what needs it, and keeps formulas from spreadsheet programs only where asked', () => {
    const cells = ['a', 'b,c', 'say "so"', 'two\nlines', '=1+1', ' الجواب'];
    expect(csvLine(cells, false)).toBe('a,"b,c","say ""so""","two\nlines",=1+1, الجواب\r\n');
    expect(csvLine(['=1', '-2', '@x', 'x'], true)).toBe("'=1,'-2,'@x,x\r\n");
  });
});

describe('cellText', () => {
  it('has the whole value of each column', () => {
    const result = {
      section: 'all',
      order_index: 3,
      item_id: null,
      status: 'failed',
      error: { code: 'x', message: 'a', provider_message: 'too long' },
      score: null,
      latency_ms: 1.5,
      usage: { completion_tokens: 2, total_tokens: 9 },
      cost: 0.25,
      scores: { polite: { score: 0.5, passed: true } },
      labels: [{ verdict: 'fail', note: null, types: [] }],
      item: {
        inputs: { prompt: 'long '.repeat(100) },
        answer: { a: [1] },
        tags: ['x', 'y'],
        meta: { 'a.b': 'value', n: 7, '%2C, %': 'percent', c: { tier: 'gold' } },
      },
    } as unknown as Result;
    const texts = [
      'id',
      'got',
      'why',
      'latency',
      'tokens',
      'cost',
      'tags',
      metaKey('/a.b'),
      metaKey('/n'),
      metaKey('/%2C, %'),
      'meta./c/tier',
      'scorer.polite',
      'label',
      'none',
    ];
    expect(texts.map((key) => cellText(key, result))).toEqual([
      'all 3',
      '',
      'too long',
      '1.5',
      '2',
      '0.25',
      'x, y',
      'value',
      '7',
      'percent',
      'gold',
      '0.5',
      'wrong',
      '',
    ]);
    expect(cellText('question', result)).toHaveLength(500);
    expect(JSON.parse(cellText('expected', result))).toEqual({ a: [1] });
  });
});
