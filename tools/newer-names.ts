import { readFileSync } from 'node:fs';
import { parseSync } from 'vite';

/** Which Node the published packages support. */
export const ENGINES = '^20.19.0 || >=22.12.0';

/**
 * What Node 24.21 has and 20.19, 22.12 or 24.0 lacks: globals with their static members, and modules with their exports; a
 * name without members is missing as a whole.
 */
const NEWER_NAMES: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('newer-names.json', import.meta.url), 'utf8'),
);

/** A name in a source that one of the oldest Nodes lacks. */
export interface NewerName {
  /** Such as `Promise.try` or `zstdCompress of node:zlib`. */
  readonly name: string;
  readonly line: number;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** Operands of types that are expressions, such as in `x as Y`. */
const TYPED_EXPRESSIONS: ReadonlySet<string> = new Set([
  'TSAsExpression',
  'TSSatisfiesExpression',
  'TSNonNullExpression',
  'TSInstantiationExpression',
]);

/**
 * The names in a TypeScript source that one of the oldest Nodes lacks: globals, their static members, and what is imported from
 * modules of Node. Types count as absent. A source may look for a name with `typeof`, in a value that it casts, or in a
 * module that it imports dynamically.
 *
 * @param file for its extension
 */
export function newerNames(file: string, source: string): NewerName[] {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found: NewerName[] = [];
  /** Local names of whole modules. */
  const modules = new Map<string, string>();
  const report = (name: string, { start }: Node): void => {
    found.push({ name, line: source.slice(0, start).split('\n').length });
  };

  const visitImport = (node: Node): void => {
    const module = String((node['source'] as Node)['value']);
    if (isType(node) || !module.startsWith('node:')) return;
    const newer = NEWER_NAMES[module];
    if (newer?.length === 0) report(module, node);
    for (const specifier of (node['specifiers'] ?? []) as Node[]) {
      if (isType(specifier)) continue;
      const imported = nameOf(specifier['imported'] ?? specifier['local']);
      if (specifier.type === 'ImportSpecifier' || specifier.type === 'ExportSpecifier') {
        if (newer?.includes(imported)) report(`${imported} of ${module}`, specifier);
      } else modules.set(nameOf(specifier['local']), module);
    }
  };

  const visitMember = (node: Node): void => {
    const object = node['object'] as Node;
    if (object.type !== 'Identifier' || node['computed'] === true) return;
    const [owner, member] = [nameOf(object), nameOf(node['property'])];
    const module = modules.get(owner);
    if (!NEWER_NAMES[module ?? owner]?.includes(member)) return;
    report(module === undefined ? `${owner}.${member}` : `${member} of ${module}`, node);
  };

  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      for (const entry of value) visit(entry);
      return;
    }
    if (!isNode(value)) return;
    if (value.type === 'ImportDeclaration' || value.type === 'ExportNamedDeclaration') {
      if (isNode(value['source'])) {
        visitImport(value);
        return;
      }
    }
    if (value.type.startsWith('TS')) {
      if (TYPED_EXPRESSIONS.has(value.type)) visit(value['expression']);
      return;
    }
    if (value.type === 'UnaryExpression' && value['operator'] === 'typeof') return;
    if (value.type === 'MemberExpression') visitMember(value);
    if (value.type === 'Identifier' && NEWER_NAMES[nameOf(value)]?.length === 0) report(nameOf(value), value);
    for (const [key, child] of Object.entries(value)) {
      const isName = (key === 'property' || key === 'key') && value['computed'] !== true;
      // `{ name }` has the same identifier as key and as value.
      if (!isName) visit(child);
    }
  };
  visit(program.body);
  return found;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';

const isType = (node: Node): boolean => node['importKind'] === 'type' || node['exportKind'] === 'type';

const nameOf = (value: unknown): string => (isNode(value) ? String(value['name'] ?? value['value']) : '');
