import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('README.md', import.meta.url));

/** A table of bench/README.md and the comments around it. */
function rangeOf(page: string, name: string): { readonly start: number; readonly end: number } {
  const last = endOf(name);
  const [start, end] = [page.indexOf(startOf(name)), page.indexOf(last)];
  if (start === -1 || end < start) {
    throw new RangeError(
      `--table must be the name of a table in bench/README.md, got ${JSON.stringify(name)}.`,
    );
  }
  return { start, end: end + last.length };
}

const startOf = (name: string): string => `<!-- table ${name} -->`;
const endOf = (name: string): string => `<!-- end of table ${name} -->`;

/** Checks, before anything is measured, that there is a table to replace. @throws RangeError if there is none */
export async function checkTable(name: string): Promise<void> {
  rangeOf(await readFile(PAGE, 'utf8'), name);
}

/** Replaces a table of bench/README.md by these lines, after a line about the machine. */
export async function writeTable(name: string, lines: readonly string[], rounds: number): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  const { start, end } = rangeOf(page, name);
  const machine = `${availableParallelism()} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, PostgreSQL 18 embedded; ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`;
  const table = [startOf(name), '', machine, '', ...lines, '', endOf(name)].join('\n');
  await writeFile(PAGE, page.slice(0, start) + table + page.slice(end));
}
