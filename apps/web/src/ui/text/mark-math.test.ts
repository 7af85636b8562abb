import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { markMath } from './mark-math.ts';

describe('formulas in Markdown', () => {
  it.each([
    [
      'a house for $80,000, puts in $50,000, and gets $200,000.',
      'a house for ¤80,000, puts in ¤50,000, and gets ¤200,000.',
    ],
    ['between $5-$10 (or $6)', 'between ¤5-¤10 (or ¤6)'],
    ['a price of $80 and $x + y$ of it', 'a price of ¤80 and $x + y$ of it'],
    ['A$ and B$', 'A¤ and B¤'],
    ['$x_1$ and $y$', '$x_1$ and $y$'],
    ['costs $20+$2=$<<20+2=22>>22, so $400/$8=50', 'costs ¤20+¤2=¤<<20+2=22>>22, so ¤400/¤8=50'],
    ['$5 per 10 minutes, so 5/10=$<<0.5>>', '¤5 per 10 minutes, so 5/10=¤<<0.5>>'],
    ['$HOME/$PATH', '¤HOME/¤PATH'],
    ['5$/h and 6$/d', '5¤/h and 6¤/d'],
    ['$5 for each, so 15 US$.', '¤5 for each, so 15 US¤.'],
    ['$3 each (of 5$), or $3 \\times 5$', '¤3 each (of 5¤), or $3 \\times 5$'],
    ['in: $a\nout: b$', 'in: ¤a\nout: b¤'],
    ['$$\nx^2\n$$', '$$\nx^2\n$$'],
    ['so\n\n$$x^2$$\n\nholds', 'so\n\n$$\nx^2\n$$\n\nholds'],
    ['- so\n\n  $$ x^2 $$', '- so\n\n  $$\n  x^2\n  $$'],
    ['so $$x^2$$ holds', 'so $$x^2$$ holds'],
    ['$$ and nothing else', '¤¤ and nothing else'],
    ['so \\( a_1 \\) is', 'so $¤a_1$ is'],
    ['so \\[ a \\] is', 'so \n\n$$\n¤a\n$$\n\n is'],
    ['\\(not closed', '\\(not closed'],
    ['\\$5 and \\\\', '\\¤5 and \\\\'],
    ['`$5` and ``a ` $6`` and $7', '`$5` and ``a ` $6`` and ¤7'],
    ['```\n$5 and \\(x\\)\n```\n$5', '```\n$5 and \\(x\\)\n```\n¤5'],
    ['`a``$5`, $6', '`a``$5`, ¤6'],
    ['$a\n\nb$', '¤a\n\nb¤'],
    ['', ''],
  ])('%j', (text, marked) => {
    expect(markMath(text, '¤')).toBe(marked);
  });

  it('keeps every text without dollars, brackets and code as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/[$`~\\]/.test(text));
        expect(markMath(text, '¤')).toBe(text);
      }),
    );
  });

  it('keeps all other characters of any text, in their order', () => {
    const letters = (text: string): string => text.replace(/[$¤\\\s]/g, '');
    const texts = fc.array(
      fc.constantFrom('$', '$$', '`', '```', '\\', '\\(', '\\)', '\\[', '\\]', ' ', '\n', '5', 'x'),
    );
    fc.assert(
      fc.property(texts, (parts) => {
        const text = parts.join('');
        expect(letters(markMath(text, '¤')).replace(/[()[\]]/g, '')).toBe(
          letters(text).replace(/[()[\]]/g, ''),
        );
      }),
      { numRuns: times(1000, 200) },
    );
  });
});
