import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createMetrics, EVENTS } from '../src/index.ts';

/** The cells of the rows of a Markdown table, found by the first cell of its head. */
function tableAfter(file: string, firstHead: string): string[][] {
  const lines = readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8').split('\n');
  const head = lines.findIndex((line) => new RegExp(`^\\| ${firstHead} +\\|`).test(line));
  expect(head, `${file} has no table with the head "${firstHead}"`).toBeGreaterThan(-1);
  const end = lines.findIndex((line, index) => index > head && !line.startsWith('|'));
  return lines.slice(head + 2, end === -1 ? undefined : end).map((line) =>
    line
      .slice(1, line.lastIndexOf('|'))
      .split('|')
      .map((cell) => cell.trim()),
  );
}

describe('docs/logs.md', () => {
  it('has every event of the catalogue with its level and fields, and no other', () => {
    const page = readFileSync(new URL('../../../docs/logs.md', import.meta.url), 'utf8');
    const common = new Map([...page.matchAll(/^- `(\w+)`: (.+)$/gm)].map(([, field, says]) => [field, says]));
    const catalogue = Object.entries(EVENTS).map(([name, { level, when, fields }]) => [
      `\`${name}\``,
      level,
      when,
      Object.entries(fields)
        .map(([field, says]) => `\`${field}\`${common.get(field) === says ? '' : `: ${says}`}`)
        .join('<br>'),
    ]);
    expect(tableAfter('logs.md', 'event')).toEqual(catalogue);
  });
});

describe('docs/metrics.md', () => {
  it('has every metric with its type and labels, and no other', async () => {
    const metrics = createMetrics({ version: '0', collectProcessMetrics: false });
    metrics.startRequest({ method: 'GET' }).finish({ statusCode: 200, durationMs: 1 });
    metrics.setDiskFree({ data: 1 });
    const text = await metrics.render();
    const rendered = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => {
      const labels = new RegExp(`^${name}(?:_count)?\\{([^}]*)\\}`, 'm').exec(text)?.[1] ?? '';
      return [
        `\`${name}\``,
        type,
        [...labels.matchAll(/(\w+)="/g)].map((label) => `\`${label[1]}\``).join(', '),
      ];
    });
    expect(tableAfter('metrics.md', 'metric').map((cells) => cells.slice(0, 3))).toEqual(rendered);
  });
});
