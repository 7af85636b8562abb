import { parse, stringify } from 'yaml';

/**
 * Renders templates of Helm as far as the chart of this repository uses them, because `helm` is one program more than a
 * machine that tests has: actions, variables, `if`, `range`, `with`, `define`, pipelines and the functions below. Anything
 * else throws, and so does a name that the values do not have.
 */
export function renderChart(
  templates: ReadonlyMap<string, string>,
  context: Readonly<Record<string, unknown>>,
): readonly Manifest[] {
  const defined = new Map<string, readonly Node[]>();
  const bodies = [...templates].map(([name, text]) => ({ name, body: parseTemplate(text, defined) }));
  const scope = new Map<string, unknown>([['$', context]]);
  return bodies
    .filter(({ name }) => !name.endsWith('.tpl'))
    .flatMap(({ body }) => render(body, context, scope, defined).split(/^---$/m))
    .map((text) => parse(text) as Manifest | null)
    .filter((manifest) => manifest !== null);
}

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind
export type Manifest = Record<string, any>;

type Node =
  | { readonly text: string }
  | { readonly action: string; readonly body?: readonly Node[]; readonly otherwise?: readonly Node[] };

function parseTemplate(text: string, defined: Map<string, readonly Node[]>): readonly Node[] {
  const trimmed = text
    .replaceAll(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}\n?/g, '')
    .replaceAll(/\s*\{\{- /g, '{{ ')
    .replaceAll(/ -\}\}\s*/g, ' }}');
  const parts = trimmed.split(/(\{\{.*?\}\})/);
  let at = 0;
  const block = (): { nodes: Node[]; end: string } => {
    const nodes: Node[] = [];
    for (; at < parts.length; at += 1) {
      const part = parts[at] as string;
      const action = /^\{\{\s*(.*?)\s*\}\}$/.exec(part)?.[1];
      if (action === undefined) nodes.push({ text: part });
      else if (action === 'end' || action.startsWith('else')) return { nodes, end: action };
      else if (/^(?:if|range|with|define) /.test(action)) {
        at += 1;
        const body = block();
        let otherwise: readonly Node[] | undefined;
        if (body.end === 'else') {
          at += 1;
          otherwise = block().nodes;
        }
        const name = /^define "(.+)"$/.exec(action)?.[1];
        if (name === undefined) nodes.push({ action, body: body.nodes, ...(otherwise && { otherwise }) });
        else defined.set(name, body.nodes);
      } else nodes.push({ action });
    }
    return { nodes, end: '' };
  };
  return block().nodes;
}

function render(
  nodes: readonly Node[],
  dot: unknown,
  outer: ReadonlyMap<string, unknown>,
  defined: ReadonlyMap<string, readonly Node[]>,
): string {
  const scope = new Map(outer);
  const evaluated = (expression: string): unknown => evaluate(expression, dot, scope, include);
  const include = (name: string, given: unknown): string => {
    const body = defined.get(name);
    if (body === undefined) throw new Error(`No template is called ${name}.`);
    return render(body, given, new Map([['$', given]]), defined);
  };
  return nodes
    .map((node) => {
      if ('text' in node) return node.text;
      const { action, body = [], otherwise = [] } = node;
      const assigned = /^(\$\w+) := (.+)$/.exec(action);
      if (assigned !== null) {
        scope.set(assigned[1] as string, evaluated(assigned[2] as string));
        return '';
      }
      const [, word = '', rest = ''] = /^(if|range|with) (.+)$/.exec(action) ?? [];
      if (word === '') return String(evaluated(action));
      const [, names, expression = ''] = /^(?:((?:\$\w+(?:, )?)+) := )?(.+)$/.exec(rest) ?? [];
      const value = evaluated(expression);
      if (!isTrue(value)) return render(otherwise, dot, scope, defined);
      if (word !== 'range') return render(body, word === 'with' ? value : dot, scope, defined);
      const [first, second] = (names ?? '').split(', ');
      return Object.entries(value as object)
        .map(([key, entry]) => {
          const inner = new Map(scope);
          if (second !== undefined) inner.set(first as string, key).set(second, entry);
          else if (first) inner.set(first, entry);
          return render(body, entry, inner, defined);
        })
        .join('');
    })
    .join('');
}

type Include = (name: string, given: unknown) => string;

function evaluate(
  expression: string,
  dot: unknown,
  scope: ReadonlyMap<string, unknown>,
  include: Include,
): unknown {
  const tokens = expression.match(/"(?:[^"\\]|\\.)*"|\(|\)|\||[^\s()|]+/g) ?? [];
  let at = 0;
  const term = (): unknown => {
    const token = tokens[at++] as string;
    if (token === '(') {
      const value = pipeline();
      at += 1;
      return value;
    }
    if (token.startsWith('"')) return JSON.parse(token);
    if (/^\d+$/.test(token)) return Number(token);
    const [, variable = '', path = ''] = /^(\$\w*)?((?:\.\w*)*)$/.exec(token) ?? [];
    if (variable === '' && path === '') return call(token);
    const names = path.split('.').filter((name) => name !== '');
    return names.reduce(memberOf, variable === '' ? dot : scope.get(variable));
  };
  const call = (name: string, piped: readonly unknown[] = []): unknown => {
    const given: unknown[] = [];
    while (at < tokens.length && tokens[at] !== ')' && tokens[at] !== '|') given.push(term());
    if (name === 'include') return include(String(given[0]), given[1]);
    const found = FUNCTIONS.get(name);
    if (found === undefined) throw new Error(`No function is called ${name}.`);
    return found(...given, ...piped);
  };
  const pipeline = (): unknown => {
    let value = term();
    while (tokens[at] === '|') {
      const name = tokens[at + 1] as string;
      at += 2;
      value = call(name, [value]);
    }
    return value;
  };
  return pipeline();
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) {
    return (value as Record<string, unknown>)[name];
  }
  throw new Error(`Nothing is called ${name}.`);
}

const isTrue = (value: unknown): boolean =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value);

const indented = (count: unknown, text: unknown): string =>
  String(text).replaceAll(/^/gm, ' '.repeat(Number(count)));

// biome-ignore lint/suspicious/noExplicitAny: functions of every kind
const FUNCTIONS = new Map<string, (...given: any[]) => unknown>([
  ['eq', (one, other) => one === other],
  ['ne', (one, other) => one !== other],
  ['quote', (value) => JSON.stringify(String(value))],
  ['default', (fallback, value) => (isTrue(value) ? value : fallback)],
  ['ternary', (yes, no, condition) => (condition ? yes : no)],
  ['trunc', (length, text) => String(text).slice(0, length)],
  ['trimSuffix', (end, text) => (text.endsWith(end) ? text.slice(0, -end.length) : text)],
  ['printf', (format, ...values) => values.reduce((text, value) => text.replace('%s', value), format)],
  ['add', (...values) => values.reduce((sum, value) => sum + value)],
  ['div', (one, other) => Math.trunc(one / other)],
  ['list', (...values) => values],
  ['dict', (...pairs) => Object.fromEntries(pairs.flatMap((key, i) => (i % 2 ? [] : [[key, pairs[i + 1]]])))],
  ['index', (value, name) => memberOf(value, name)],
  ['toYaml', (value) => stringify(value).trimEnd()],
  ['indent', indented],
  ['nindent', (count, text) => `\n${indented(count, text)}`],
  [
    'required',
    (message, value) => {
      if (!isTrue(value)) throw new Error(message);
      return value;
    },
  ],
]);
