/** The first names for a message, and how many more there are; `none` if there are none. */
export function listNames(names: readonly string[], maxNames: number = 20): string {
  if (names.length === 0) return 'none';
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  return names.slice(0, maxNames).join(', ') + more;
}
