import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STYLE_CODES } from '../src/check/check-style.ts';
import { CLI_ERROR_CODES, EXIT_CODES } from '../src/errors/cli-error.ts';
import { createProgram } from '../src/program.ts';

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8');
const program = await createProgram({ version: '1', columns: 100, database: {} } as never, {
  out: () => {},
  err: () => {},
});

/** The text under a heading, up to the next heading of its level or above. */
function section(heading: string): string {
  const start = page.indexOf(`\n${heading}\n`) + 1;
  if (start === 0) return '';
  const level = heading.indexOf(' ');
  const body = page.slice(start + heading.length);
  const end = body.search(new RegExp(`^#{1,${level}} `, 'm'));
  return end === -1 ? body : body.slice(0, end);
}

/** First and second column of the first table in a text. */
function rows(text: string): string[][] {
  const table = /(?:^\|.*\n)+/m.exec(text)?.[0] ?? '';
  return table
    .trimEnd()
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, 3)
        .map((cell) => cell.trim()),
    );
}

it('has sections of commands in the order of the help', () => {
  const documented = [...page.matchAll(/^## ([a-z-]+)$/gm)].map(([, name]) => name);
  const names = program.commands.map((command) => command.name());
  expect(documented).toEqual(names.filter((name) => documented.includes(name)));
});

it('has the options of the program', () => {
  expect(rows(section('## Every command')).map(([flags]) => flags)).toEqual(
    ['-V, --version', '--json', '-q, --quiet', '-h, --help'].map((flags) => `\`${flags}\``),
  );
});

it('has the exit codes, the codes of errors and those of style', () => {
  expect(rows(section('## Exit codes'))).toEqual(
    EXIT_CODES.map(({ code, meaning }) => [String(code), meaning]),
  );
  expect(rows(section('## Errors'))).toEqual(
    Object.entries(CLI_ERROR_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );
  expect(rows(section('### Style'))).toEqual(
    Object.entries(STYLE_CODES).map(([code, meaning]) => [`\`${code}\``, meaning]),
  );
});

describe('the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

  it('has every command that npm installs, every option, and the exit codes', async () => {
    const installed = await createProgram({ version: '1', columns: 100, database: null } as never, {
      out: () => {},
      err: () => {},
    });
    expect([...readme.matchAll(/^\| `([a-z-]+)[^`]*` \| [a-z]/gm)].map(([, name]) => name)).toEqual(
      installed.commands.map((command) => command.name()),
    );
    const flags = [installed, ...installed.commands].flatMap(({ options }) =>
      options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined)),
    );
    for (const flag of new Set(flags)) expect(readme, flag).toContain(`\`${flag}\``);
    for (const { code, meaning } of EXIT_CODES) expect(readme).toContain(`| ${code} | ${meaning} |`);
  });
});
