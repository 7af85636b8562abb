/** What was run with one Node, and what went wrong: null for nothing. */
export type Failures = ReadonlyMap<string, string | null>;

/** A table of what was run by versions of Node: "ok", "FAILED", or nothing where the version does not run it. */
export function failureTable(byVersion: ReadonlyMap<string, Failures>): string {
  const names = [...new Set([...byVersion.values()].flatMap((found) => [...found.keys()]))];
  const width = Math.max(...names.map((name) => name.length));
  const row = (name: string, cells: readonly string[]): string =>
    [name.padEnd(width), ...cells.map((cell) => cell.padEnd(8))].join('  ').trimEnd();
  const cell = (failure: string | null | undefined): string =>
    failure === undefined ? '' : failure === null ? 'ok' : 'FAILED';
  return [
    row('', [...byVersion.keys()]),
    ...names.map((name) =>
      row(
        name,
        [...byVersion.values()].map((found) => cell(found.get(name))),
      ),
    ),
  ].join('\n');
}

/** One line for each failure. */
export function failuresIn(byVersion: ReadonlyMap<string, Failures>): string[] {
  return [...byVersion].flatMap(([version, found]) =>
    [...found].flatMap(([name, failure]) =>
      failure === null ? [] : [`Node ${version}, ${name}: ${failure}`],
    ),
  );
}
