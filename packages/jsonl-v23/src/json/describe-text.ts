const MAX_SHOWN_LENGTH = 100;

/** Text for a message: quoted, control characters escaped, shortened past 100 characters. */
export function describeText(text: string): string {
  return text.length <= MAX_SHOWN_LENGTH
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, MAX_SHOWN_LENGTH))}... (${text.length} characters)`;
}
