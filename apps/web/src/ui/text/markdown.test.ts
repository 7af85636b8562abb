import fc from 'fast-check';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import Markdown from './markdown.tsx';

const render = (text: string): string =>
  renderToStaticMarkup(createElement(Markdown, { text }))
    .replaceAll(' dir="auto"', '')
    .replace(/^<div class="prose">|<\/div>$/g, '')
    .trim();

/** What is read on the page. */
const visible = (text: string): string =>
  render(text)
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(lt|gt|quot|#x27|amp);/g, (_, name) => ENTITIES[name as keyof typeof ENTITIES]);
const ENTITIES = { lt: '<', gt: '>', quot: '"', '#x27': "'", amp: '&' };

describe('Markdown', () => {
  it.each([
    [
      'code',
      'Use\n```sh\necho $5 \\(x\\) `y` $HOME',
      '<pre><code class="language-sh">echo $5 \\(x\\) `y` $HOME\n</code></pre>',
    ],
    [
      'code with a longer fence after it, and fences inside',
      '~~~\n$1 ``` \\(x\\)\n~~~~\nso $5',
      '<pre><code class="">$1 ``` \\(x\\)\n</code></pre>\n<p>so $5</p>',
    ],
    ['indented code', '## So\n\n    echo $5', '<pre><code class="">echo $5\n</code></pre>'],
    ['a heading', '# Title\n\nText', '<h1>Title</h1>\n<p>Text</p>'],
    [
      'a heading right above its text',
      '## Step 1: Add\n3*4*5 is 60',
      '<h2>Step 1: Add</h2>\n<p>3*4*5 is 60</p>',
    ],
    ['a list of words', '- milk\n- **bread**', '<ul>\n<li>milk</li>\n<li><strong>bread</strong></li>\n</ul>'],
    [
      'a list of numbers, with its marks',
      '- 5\n- 3',
      '<ul class="written-marks">\n<li>- 5</li>\n<li>- 3</li>\n</ul>',
    ],
    [
      'the numbers of a list as they are',
      '3) a\n7) b',
      '<ol start="3" class="written-marks">\n<li>3) a</li>\n<li>7) b</li>\n</ol>',
    ],
    ['a list in a list', '- milk\n  - fresh', '<ul>\n<li>milk\n<ul>\n<li>fresh</li>\n</ul>\n</li>\n</ul>'],
    [
      'check marks',
      '- [x] done\n- [ ] not',
      '<ul class="written-marks">\n<li>- [x] done</li>\n<li>- [ ] not</li>\n</ul>',
    ],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2*3*4 |', '<td>2*3*4</td>'],
    [
      'words',
      'The answer is **72**, not **seventy three**!',
      'The answer is <strong>72</strong>, not <strong>seventy three</strong>!',
    ],
    ['words in a script without spaces', '这是**重点**内容', '<p>这是<strong>重点</strong>内容</p>'],
    ['prices', 'from **$5** to $6', '<p>from <strong>$5</strong> to $6</p>'],
    ['code in a line', '**so** `a*b*c`', '<p><strong>so</strong> <code class="">a*b*c</code></p>'],
    [
      'a link',
      'see [the $5 paper](https://a.example/?q=$b)',
      '<p>see <a href="https://a.example/?q=$b" target="_blank" rel="noopener noreferrer nofollow">the $5 paper</a></p>',
    ],
    [
      'the white space of lines',
      '**So:**\n  a  = 1\n\tbb = 2',
      '<p><strong>So:</strong>\n  a  = 1\n\tbb = 2</p>',
    ],
    [
      'an address',
      '**so** https://a.example/?q=$b is',
      '<a href="https://a.example/?q=$b" target="_blank" rel="noopener noreferrer nofollow">https://a.example/?q=$b</a> is</p>',
    ],
    ['a formula', 'so $x$ and $5', '<p>so <span></span> and $5</p>'],
    ['a formula of its own', 'so\n\n$$\nx\n$$', '<p>so</p>\n<span class="math-block"></span>'],
    ['a formula in brackets', '\\[x\\]', '<span class="math-block"></span>'],
    [
      'tags',
      '**so**\n<context>\nthe <div> a<br>b\n</context>',
      '&lt;context&gt;\nthe &lt;div&gt; a&lt;br&gt;b\n&lt;/context&gt;</p>',
    ],
    ['a script', '**so**\n\n<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    [
      'an image',
      '**see** ![a $5 bill](https://a.example/i.png)',
      '</strong> ![a $5 bill](https://a.example/i.png)</p>',
    ],
    ['a character for private use', '**so** \ue000 $5', '\ue000 $5</p>'],
  ])('shows %s', (_, text, html) => {
    expect(render(text)).toContain(html);
  });

  it.each([
    ...['He sprints 3*3=9 times\nSo he runs 9*60=540 meters', '2 * 3 * 4', '3*4*5', '2 *3* 4', '2 **3** 4'],
    ...[
      'x**2 + y**2',
      '(a+b)**2 - (a-b)**2',
      'f(*args, **kwargs), g(**kwargs)',
      '**/*.ts,**/*.js',
      'a *b* c',
    ],
    ...[
      'open __init__.py and __main__.py',
      '__init__',
      'snake_case_name and _private_',
      'C:\\*.txt and D:\\*.txt',
    ],
    ...[
      '#### 72',
      '#### $1,000',
      '#### -3.5 km',
      '#hash',
      '# add\nx = a + b',
      'import os\n# paths\n\nx = 1',
      '#define A',
      '#',
    ],
    ...[
      '- 5',
      '3. April',
      '* one',
      '-5\n-3',
      '+ 3',
      'a\n---\nb',
      '***',
      '---',
      'a\n===\nb',
      '> 5',
      '> a\n> b',
    ],
    ...[
      '&lt; &amp; &#42;',
      'a \\* b \\_ c \\\\ d',
      'a\\\nb',
      '~5 and ~6~',
      '\\$5 and \\$6',
      '~~5~~',
      '`a` and `b`',
      'it`s 5\nand it`s 6',
    ],
    ...[
      'f[i](x) and a[0](1)',
      '[1]: 5',
      '[a][b] and [^1]\n\n[^1]: c',
      '![a](b)',
      '<b>it</b>',
      '<https://a.example>',
    ],
    ...['[x](javascript:alert(1))', '[x](/settings)', '***so***', '| a |\n|---|\n| 1 | 2 |', '|x| + |y|'],
    ...[
      'earns 5$ per hour and 6$ per day',
      'A$ and B$',
      '$HOME/$PATH',
      '5$/h, 6$/d',
      '$5 each, so 3 cost 15 US$.',
    ],
    ...[
      'cost: $a\ntotal: b$',
      'a\n\n\n  b\t c  d\n    e\n',
      '    indented',
      'the *so\nit* is',
      '**so\nit** is',
    ],
  ])('shows %j as it is', (text) => {
    expect(visible(text).trimEnd()).toBe(text.trimEnd());
  });

  /** Texts as models and datasets have them, without formulas, which are drawn. */
  const operand = fc.oneof(
    fc.nat(999).map(String),
    fc.constantFrom('x', 'y', 'n', 'rate', 'total_cost', '(a+b)', '$5'),
  );
  const sum = fc
    .array(
      fc.tuple(operand, fc.constantFrom('*', ' * ', '**', '+', '-', ' - ', '/', '=', '%', '^', '<', '>=')),
      { minLength: 1, maxLength: 5 },
    )
    .chain((parts) => operand.map((last) => parts.flat().join('') + last));
  const prose = fc.constantFrom(
    'So he runs',
    'the **total** is',
    'in snake_case',
    'per hour',
    'und Öl',
    '因此',
    'call(**kwargs)',
    '__init__.py',
    'C:\\*.txt',
    '`a*b`',
    'not *quite*',
    '<b>',
    '[1]',
    '&amp;',
    '#',
  );
  const line = fc.array(fc.oneof(sum, prose), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' '));
  const start = fc.constantFrom(
    '',
    '',
    '',
    '#### ',
    '## ',
    '- ',
    '* ',
    '1. ',
    '2) ',
    '> ',
    '    ',
    '  - ',
    '---\n',
    '| ',
    '+ ',
  );
  const text = fc
    .array(fc.tuple(start, line, fc.constantFrom('\n', '\n', '\n\n', '  \n')), { minLength: 1, maxLength: 8 })
    .map((lines) => lines.flat().join(''));

  it('never has fewer digits or operators than the text, but for the marks of blocks, words and code', () => {
    const MARKS = /^[ \t]*(?:#{1,6}|[-*])[ \t]+(?=\S)|\*\*(?=total)|(?<=total)\*\*|`(?=a\*b)|(?<=a\*b)`|\s/gm;
    const isWithin = (part: string, whole: string): boolean => {
      let at = 0;
      for (const character of whole) if (character === part[at]) at += 1;
      return at === part.length;
    };
    fc.assert(
      fc.property(text, (stored) => {
        const shown = visible(stored).replaceAll(/\s/g, '');
        expect([isWithin(shown, stored), isWithin(stored.replaceAll(MARKS, ''), shown)]).toEqual([
          true,
          true,
        ]);
      }),
      { numRuns: times(2000, 300) },
    );
  });

  it('gives each block the direction of its text', () => {
    const html = renderToStaticMarkup(
      createElement(Markdown, { text: 'سؤال (Cairo)\n\n- eins\n- zwei\n\n| a |\n|---|\n| b |' }),
    );
    for (const tag of ['p', 'li', 'th', 'td']) expect(html).toMatch(`<${tag} dir="auto"`);
  });
});
