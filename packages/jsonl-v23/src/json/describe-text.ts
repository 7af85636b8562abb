const LONGEST_SHOWN = 100;

/** Text for a message: quoted, control characters escaped, shortened past 100 characters. */
export function describeText(text: string): string {
  return text.length <= LONGEST_SHOWN
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, LONGEST_SHOWN))}... (${text.length} characters)`;
}
