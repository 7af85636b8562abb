import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { OptionSchema } from '../../src/evaluation/checkers/checker.ts';
import { CHECKER_DOCS } from '../../src/evaluation/checkers/checkers.ts';
import { parseRunConfig } from '../../src/evaluation/config/parse-run-config.ts';
import { PROVIDER_SCHEMAS, RUN_CONFIG_SCHEMA } from '../../src/evaluation/config/run-config-schema.ts';
import { UNSCORABLE_REASONS } from '../../src/evaluation/plan/describe-plan.ts';

const text = ['runs', 'checkers', 'results']
  .map((page) => readFileSync(new URL(`../../../../docs/${page}.md`, import.meta.url), 'utf8'))
  .join('\n');

/** The cells of the rows of a table, found by the first cell of its head. */
function table(firstHead: string): string[][] {
  const lines = text.split('\n');
  const head = lines.findIndex((line) => line.startsWith(`| ${firstHead} |`));
  expect(head).toBeGreaterThan(-1);
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'));
  return lines.slice(head + 2, end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

const names = (firstHead: string): string[] => table(firstHead).map((cells) => cells[0] ?? '');

describe('the pages of runs', () => {
  it('has an example that is accepted', () => {
    const example = JSON.parse(/```json\n([\s\S]*?)```/.exec(text)?.[1] ?? '');
    expect(parseRunConfig(example.config)).toMatchObject({ repetitions: 3 });
  });

  it('lists every member with its default', () => {
    const properties = RUN_CONFIG_SCHEMA['properties'] as Record<string, { default?: number }>;
    expect(names('member')).toEqual(Object.keys(properties));
    for (const [name, cell] of table('member')) {
      const stated = properties[name ?? '']?.default;
      if (stated !== undefined) expect(cell).toBe(String(stated));
    }
  });

  it('lists every provider with its members', () => {
    const schemas = Object.entries(PROVIDER_SCHEMAS).map(([type, schema]) => [
      type,
      Object.keys(schema['properties'] as object).filter((name) => name !== 'type'),
    ]);
    expect(
      table('provider').map(([type, members]) => [type, (members ?? '').split(', ').filter(Boolean)]),
    ).toEqual(schemas);
  });

  it('lists every checker with its options', () => {
    const optionOf = ([name, schema]: [string, OptionSchema]): string =>
      'default' in schema ? `${name} (${schema['default']})` : name;
    expect(
      table('checker'),
      'docs/checkers.md needs a row for each of checkers.ts, as it is declared',
    ).toEqual(
      CHECKER_DOCS.map(({ name, passes, options }) => [
        name,
        passes.replaceAll('`', ''),
        Object.entries(options).map(optionOf).join(', '),
      ]),
    );
  });

  it('lists every reason why an item cannot be scored', () => {
    expect(names('reason').sort()).toEqual(Object.keys(UNSCORABLE_REASONS).sort());
  });

  it('lists every code of a result', () => {
    const source = readFileSync(new URL('../../src/evaluation/run-error.ts', import.meta.url), 'utf8');
    const codes = [...(/RunErrorCode =([^;]*);/.exec(source)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(
      (match) => match[1],
    );
    const ofRequests: (string | undefined)[] = [
      'invalid_request',
      'nothing_to_score',
      'run_cancelled',
      'budget_spent',
    ];
    const ofResults = codes.filter((code) => !ofRequests.includes(code));
    expect(names('code').sort()).toEqual(ofResults.sort());
  });
});
