import type { Shape } from './shape.ts';
import { between, dumps, pick, prose } from './text.ts';

const LINES: readonly string[] = [
  '\tif (value === "") {\n',
  '        return f\'{name}: "{value}"\'\n',
  '    path = "C:\\\\data\\\\" + name\n',
  '\t\tfor (const [key, entry] of Object.entries(found)) {\r\n',
  '    pattern = re.compile(r"^\\s*(\\d+)\\.(\\d+)$")\n',
  '}\n',
];

const source = (next: () => number, lines: number): string =>
  Array.from({ length: lines }, (_, line) =>
    line % 5 === 4 ? `# ${prose(next, between(next, 60, 240))}\n` : pick(next, LINES),
  ).join('');

/** Programs: a line feed, a quote or a backslash every few bytes, and long lines. */
export const CODE: Shape = {
  name: 'code',
  lineBytes: 2730,
  line: (next, index) =>
    dumps({
      id: `code/${index}`,
      type: 'code',
      inputs: { prompt: `${prose(next, 120)}:\n\n\`\`\`\n${source(next, 24)}\`\`\`` },
      answer: source(next, 16),
      checker: { type: 'regex', pattern: '^\\s*def \\w+\\(' },
      meta: { language: pick(next, ['python', 'js', 'go']), tests: [source(next, 4)] },
    }),
};
