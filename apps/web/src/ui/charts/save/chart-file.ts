import { isValidElement, type ReactElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { COLORS } from '../chart-style.ts';

/** What a chart of a file shows where the page has variables of its theme: files are for white paper. */
const PRINTED: Readonly<Record<string, string>> = {
  [COLORS.bar]: '#3b5bdb',
  [COLORS.pale]: '#bac8ff',
  [COLORS.grid]: '#ced4da',
  [COLORS.text]: '#495057',
  'var(--mantine-color-body)': '#ffffff',
};

/** How many pixels of an image one of the chart has. */
const SCALE = 2;

/** A drawing, or a chart of the page, as the text of an SVG file that needs nothing else. */
export function svgFile(chart: ReactElement | Element): string {
  const markup = isValidElement(chart)
    ? renderToStaticMarkup(chart)
    : new XMLSerializer().serializeToString(chart as Element);
  const text = markup.includes('xmlns=')
    ? markup
    : markup.replace('<svg', '<svg xmlns="http://www.w3.org/2000/svg"');
  const printed = Object.entries(PRINTED).reduce((all, [name, color]) => all.replaceAll(name, color), text);
  return printed.replace(
    /<svg[^<>]*>/,
    (tag) =>
      `${tag.replace('<svg', '<svg font-family="system-ui, sans-serif"')}<rect width="100%" height="100%" fill="#ffffff"/>`,
  );
}

/** The same as an image. */
export async function pngFile(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [SCALE * image.width, SCALE * image.height];
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) =>
        blob === null ? reject(new RangeError('The chart is too large.')) : resolve(blob),
      ),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}
