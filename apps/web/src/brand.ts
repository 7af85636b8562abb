/** The face of the console: what an owner who wants another one changes. */
export const BRAND = {
  /** What it is called where `SVC_CONSOLE_NAME` says nothing. */
  name: 'svc',
  /** A score with its interval, drawn in a square of 32. */
  mark: 'M6 16h20M6 11v10M26 11v10M16 12a4 4 0 1 0 .01 0Z',
  /** From the palest to the darkest. White is readable on the last three, the fifth on dark pages. */
  colors: [
    '#ebf2ff',
    '#d3e2fd',
    '#a6c4fa',
    '#79a6f7',
    '#6396f5',
    '#3d78ec',
    '#2b66dd',
    '#1f54c0',
    '#1a469f',
    '#153a84',
  ],
} as const;

export const consoleName = (): string =>
  document.querySelector<HTMLMetaElement>('meta[name="svc-name"]')?.content || BRAND.name;

export const MARK_SVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${BRAND.colors[7]}"/><path d="${BRAND.mark}" fill="#fff" stroke="#fff" stroke-width="2.5" stroke-linecap="round"/></svg>`;
