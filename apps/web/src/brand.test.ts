import { expect, it } from 'vitest';
import { BRAND } from './brand.ts';

/** Relative luminance (WCAG 2.2). */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(a: string, b: string): number {
  const [low = 0, high = 0] = [luminanceOf(a), luminanceOf(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

it('is readable in filled buttons, also under the pointer, and as links in light and dark', () => {
  const pairs = [
    // filled buttons of both themes, as they are and under the pointer
    ...[7, 8, 9].map((shade) => ['#ffffff', BRAND.colors[shade]]),
    // links on the page, on rows under the pointer and on chosen ones
    ...['#ffffff', '#f8f9fa', BRAND.colors[0]].map((ground) => [BRAND.colors[7], ground]),
    ...['#242424', '#2e2e2e', '#3b3b3b'].map((ground) => [BRAND.colors[3], ground]),
  ];
  for (const [text = '', ground = ''] of pairs)
    expect(contrastOf(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
});
