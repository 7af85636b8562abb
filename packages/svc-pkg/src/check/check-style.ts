import { createHash } from 'node:crypto';
import type { Item, SourceLocation } from '@svc/jsonl-v23';
import { canonicalJson, getMember, isJsonObject } from '@svc/jsonl-v23/json';
import type { PackageError } from '@svc/pkg-format';
import type { CheckedLine, FileEnds } from '@svc/pkg-format/internal';

/** What `check --strict` reports, with the text of docs/cli.md. */
export const STYLE_CODES = {
  style_byte_order_mark: 'the file begins with a byte order mark',
  style_crlf: 'lines end with CR LF (reported once per section)',
  style_blank_line: 'the line is blank',
  style_no_final_newline: 'the last line does not end with a line feed',
  style_empty_section: 'the section has no items',
  style_not_canonical: 'the line is not in the canonical form that an export writes',
  style_missing_id: 'the item has no id',
  style_no_prompt:
    'the item has neither a prompt nor messages, choices or assets, so that a run cannot ask it',
  style_duplicate_id: 'an earlier item of any section has the same id (the first 1,000,000 ids are compared)',
  style_unknown_type: 'the format does not define the type; often a typing error',
  style_ignored_entry:
    'the file is not part of the package; an import ignores it (a readme or licence at the root is not reported)',
  style_unused_file: 'no item refers to the file (checked if there are no errors)',
} as const;

/** Item types that the format defines. Others are allowed but often a typing error. */
const KNOWN_TYPES: ReadonlySet<string> = new Set(['freeform', 'multiple_choice', 'exact', 'numeric', 'code']);

/** The number of ids that are kept to find duplicates; about 100 MB. */
const MAX_COMPARED_IDS = 1_000_000;

const CARRIAGE_RETURN = 13;

/** Reports style, in lines that are valid. One linter gets the lines of all sections, in order. */
export interface Linter {
  /** Starts a section. */
  begin(file: string): void;
  line(checked: CheckedLine): Diagnostic[];
  /** Ends the section. */
  end(source: FileEnds): Diagnostic[];
}

/** Makes the linter of one package. */
export function createLinter(): Linter {
  const ids = new Set<string>();
  let file = '';
  let itemCount = 0;
  let hasCarriageReturn = false;
  let lastLine = 1;

  function lintId(item: Item, location: SourceLocation): Diagnostic | null {
    const id = getMember(item, 'id');
    if (id === undefined) return style('style_missing_id', 'The item has no id', location);
    const text = canonicalJson(id);
    const key = text.length <= 64 ? text : createHash('sha256').update(text).digest('base64');
    if (ids.has(key)) {
      const displayed = text.length > 100 ? `${text.slice(0, 99)}…` : text;
      return style('style_duplicate_id', `Duplicate id ${displayed}`, {
        ...location,
        path: '/id',
      });
    }
    if (ids.size < MAX_COMPARED_IDS) ids.add(key);
    return null;
  }

  return {
    begin(section) {
      file = section;
      itemCount = 0;
      hasCarriageReturn = false;
      lastLine = 1;
    },

    line({ location, bytes, item, errors }) {
      const diagnostics: (Diagnostic | null)[] = [];
      lastLine = location.line ?? lastLine;
      const endsWithReturn = bytes.at(-1) === CARRIAGE_RETURN;
      if (endsWithReturn && !hasCarriageReturn) {
        hasCarriageReturn = true;
        diagnostics.push(style('style_crlf', 'Lines end with CR LF; an export writes LF', location));
      }
      if (item === null) {
        if (errors.length === 0) diagnostics.push(style('style_blank_line', 'The line is blank', location));
        return present(diagnostics);
      }
      itemCount += 1;
      const text = endsWithReturn ? bytes.subarray(0, -1) : bytes;
      if (!Buffer.from(canonicalJson(item)).equals(text)) {
        diagnostics.push(
          style(
            'style_not_canonical',
            'The line is not in the canonical form that an export writes',
            location,
          ),
        );
      }
      const type = getMember(item, 'type');
      if (typeof type === 'string' && !KNOWN_TYPES.has(type)) {
        const known = [...KNOWN_TYPES].join(', ');
        const displayed = JSON.stringify(type.length > 100 ? `${type.slice(0, 99)}…` : type);
        diagnostics.push(
          style('style_unknown_type', `Unknown type ${displayed}; the format defines ${known}`, {
            ...location,
            path: '/type',
          }),
        );
      }
      diagnostics.push(lintId(item, location));
      if (!hasPrompt(item)) {
        diagnostics.push(
          style('style_no_prompt', 'The item has no inputs.prompt and no inputs.messages', location),
        );
      }
      return present(diagnostics);
    },

    end({ hasByteOrderMark, endsWithLineFeed }) {
      const diagnostics: Diagnostic[] = [];
      const first = { file, line: 1 };
      if (hasByteOrderMark)
        diagnostics.push(style('style_byte_order_mark', 'The file begins with a byte order mark', first));
      if (itemCount === 0)
        diagnostics.push(style('style_empty_section', 'The section has no items', { file }));
      if (!endsWithLineFeed) {
        diagnostics.push(
          style('style_no_final_newline', 'The last line does not end with a line feed', {
            file,
            line: lastLine,
          }),
        );
      }
      return diagnostics;
    },
  };
}

/** Whether a run can ask the item something; choices and images are enough. */
function hasPrompt(item: Item): boolean {
  const inputs = getMember(item, 'inputs');
  if (getMember(item, 'assets') !== undefined) return true;
  if (!isJsonObject(inputs)) return false;
  const messages = getMember(inputs, 'messages');
  if (Array.isArray(messages) && messages.length > 0) return true;
  return typeof getMember(inputs, 'prompt') === 'string' || getMember(inputs, 'choices') !== undefined;
}

/** Files that describe the dataset to people, which a conversion keeps. */
const FOR_PEOPLE = /^(?:readme|licen[cs]e|notice|citation|changelog)(?:\.[a-z]+)?$/i;

/** Reports the style of a package's files. */
export function lintFiles(ignored: readonly string[], unused: readonly string[]): Diagnostic[] {
  return [
    ...ignored
      .filter((file) => !FOR_PEOPLE.test(file))
      .map((file) =>
        style('style_ignored_entry', 'The file is not part of the package; an import ignores it', { file }),
      ),
    ...unused.map((file) => style('style_unused_file', 'No item refers to the file', { file })),
  ];
}

function style(code: keyof typeof STYLE_CODES, message: string, location: SourceLocation): Diagnostic {
  return { severity: 'style', code, message, location };
}

const present = (diagnostics: readonly (Diagnostic | null)[]): Diagnostic[] =>
  diagnostics.filter((diagnostic) => diagnostic !== null);

/** What `check` reports at one location. Errors prevent an import; style does not. */
export interface Diagnostic {
  readonly severity: 'error' | 'style';
  /** An error code of the packages, or `style_...`. */
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
}

/** An error of the packages. */
export function errorDiagnostic({ code, message, location }: PackageError): Diagnostic {
  return { severity: 'error', code, message, location };
}

/** Keeps this many diagnostics of one code, and counts the rest. */
export const MAX_PER_CODE = 1000;

/** Collects what a check reports, in bounded memory. */
export interface DiagnosticCollector {
  report(diagnostic: Diagnostic): void;
  /** The first 1,000 of each code, in the order of the package. */
  readonly diagnostics: readonly Diagnostic[];
  /** How often each code was reported. */
  readonly counts: ReadonlyMap<string, { readonly severity: Diagnostic['severity']; readonly count: number }>;
  readonly errorCount: number;
  readonly styleCount: number;
}

export function collectDiagnostics(): DiagnosticCollector {
  const diagnostics: Diagnostic[] = [];
  const counts = new Map<string, { severity: Diagnostic['severity']; count: number }>();
  const sum = (severity: Diagnostic['severity']): number =>
    [...counts.values()].reduce(
      (total, entry) => (entry.severity === severity ? total + entry.count : total),
      0,
    );
  return {
    diagnostics,
    counts,
    get errorCount() {
      return sum('error');
    },
    get styleCount() {
      return sum('style');
    },
    report(diagnostic) {
      const entry = counts.get(diagnostic.code) ?? { severity: diagnostic.severity, count: 0 };
      counts.set(diagnostic.code, entry);
      entry.count += 1;
      if (entry.count <= MAX_PER_CODE) diagnostics.push(diagnostic);
    },
  };
}
