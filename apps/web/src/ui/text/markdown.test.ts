import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import Markdown from './markdown.tsx';

const render = (text: string): string =>
  renderToStaticMarkup(createElement(Markdown, { text }))
    .replaceAll(' dir="auto"', '')
    .replace(/^<div class="prose">|<\/div>$/g, '')
    .trim();

describe('Markdown', () => {
  it.each([
    [
      'tags of a prompt',
      '<context>\nParis is *big*.\n</context>\nWhat is <b>it</b>?',
      '<p>&lt;context&gt;<br/>\nParis is *big*.<br/>\n&lt;/context&gt;<br/>\nWhat is &lt;b&gt;it&lt;/b&gt;?</p>',
    ],
    ['tags in a line', 'the <div> of *a* page', '<p>the &lt;div&gt; of <em>a</em> page</p>'],
    ['a script', '<script>alert(1)</script>', '<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>'],
    ['a line break', 'a<br>b', '<p>a<br/>\nb</p>'],
    ['prices', 'from **$5** to $6', '<p>from <strong>$5</strong> to $6</p>'],
    [
      'code that is not closed',
      '```sh\necho $5 \\(x\\) `y` $HOME',
      '<pre><code class="language-sh">echo $5 \\(x\\) `y` $HOME\n</code></pre>',
    ],
    [
      'code with a longer fence after it, and fences inside',
      '~~~\n$1 ``` \\(x\\)\n~~~~\nso $5',
      '<pre><code class="">$1 ``` \\(x\\)\n</code></pre>\n<p>so $5</p>',
    ],
    ['indented code', 'so\n\n    echo $5', '<p>so</p>\n<pre><code class="">echo $5\n</code></pre>'],
    [
      'an address',
      'https://a.example/?q=$b is',
      '<p><a href="https://a.example/?q=$b" target="_blank" rel="noopener noreferrer nofollow">https://a.example/?q=$b</a> is</p>',
    ],
    [
      'an image',
      'see ![a $5 bill](https://a.example/i.png)',
      '<p>see ![a $5 bill](https://a.example/i.png)</p>',
    ],
    ['check marks', '- [x] done\n- [ ] not', '<ul>\n<li>[x] done</li>\n<li>[ ] not</li>\n</ul>'],
    ['a quote with tags', '> <a>\n> $5', '<blockquote>\n<p>&lt;a&gt;<br/>\n$5</p>\n</blockquote>'],
    ['a character for private use', '\ue000 $5', '<p>\ue000 $5</p>'],
    ['a formula', 'so $x$ and $5', '<p>so <span></span> and $5</p>'],
    ['a formula of its own', 'so\n\n$$\nx\n$$', '<p>so</p>\n<span class="math-block"></span>'],
    ['a formula in brackets', '\\[x\\]', '<span class="math-block"></span>'],
  ])('shows %s', (_, text, html) => {
    expect(render(text)).toBe(html);
  });

  it('gives each block the direction of its text', () => {
    const html = renderToStaticMarkup(
      createElement(Markdown, { text: 'سؤال (Cairo)\n\n- eins\n\n> zwei\n\n| a |\n|---|\n| b |' }),
    );
    for (const tag of ['p', 'li', 'blockquote', 'th', 'td']) expect(html).toMatch(`<${tag} dir="auto"`);
  });
});
