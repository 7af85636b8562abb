import { checkColumnCount } from '../schema/check-column-count.ts';

/** The names of columns without a header. @throws TableError `unsupported_file` for more columns than a table may have */
export function numberedNames(count: number): string[] {
  checkColumnCount(count);
  return Array.from({ length: count }, (_, index) => String(index));
}

/** Column names as pandas makes them: empty ones are numbered, repeated ones get `.1`, `.2` and so on. */
export function uniqueNames(header: readonly string[]): string[] {
  const names = header.map((name, index) => (name === '' ? `Unnamed: ${index}` : name));
  const taken = new Set(names);
  const counts = new Map<string, number>();
  // Names from the file take precedence over generated ones.
  const order = [...names.keys()].sort(
    (a, b) => Number(header[a] === '') - Number(header[b] === '') || a - b,
  );
  for (const index of order) {
    const original = names[index] as string;
    let name = original;
    let count = counts.get(name) ?? 0;
    while (count > 0) {
      counts.set(original, count + 1);
      name = `${original}.${count}`;
      count = taken.has(name) ? count + 1 : (counts.get(name) ?? 0);
    }
    names[index] = name;
    taken.add(name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return names;
}
