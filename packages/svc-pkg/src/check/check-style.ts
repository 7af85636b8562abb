import { createHash } from 'node:crypto';
import type { Item, SourceLocation } from '@svc/jsonl-v23';
import { canonicalJson, getMember, isJsonObject } from '@svc/jsonl-v23/json';
import type { CheckedLine, FileEnds, PackageError } from '@svc/pkg-format';

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

/** What `check` reports at one location. Errors prevent an import; style does not. */
export interface Diagnostic {
  readonly severity: 'error' | 'style';
  /** An error code of the packages, or `style_...`. */
  readonly code: string;
  readonly message: string;
  readonly location: SourceLocation;
}

/** Keeps this many diagnostics of one code, and counts the rest. */
export const MAX_PER_CODE = 1000;

/** Collects what a check reports, in bounded memory. */
export class Diagnostics {
  /** The first 1,000 of each code, in the order of the package. */
  readonly first: Diagnostic[] = [];
  readonly counts: Map<string, { readonly severity: Diagnostic['severity']; count: number }> = new Map();

  error({ code, message, location }: PackageError): void {
    this.#report({ severity: 'error', code, message, location });
  }

  style(code: keyof typeof STYLE_CODES, message: string, location: SourceLocation): void {
    this.#report({ severity: 'style', code, message, location });
  }

  countOf(severity: Diagnostic['severity']): number {
    const counted = [...this.counts.values()].filter((entry) => entry.severity === severity);
    return counted.reduce((total, { count }) => total + count, 0);
  }

  #report(diagnostic: Diagnostic): void {
    const { code, severity } = diagnostic;
    const entry = this.counts.get(code) ?? { severity, count: 0 };
    this.counts.set(code, entry);
    entry.count += 1;
    if (entry.count <= MAX_PER_CODE) this.first.push(diagnostic);
  }
}

/** Reports style, in lines that are valid. One linter gets the lines of all sections of a package, in order. */
export class Linter {
  readonly #found: Diagnostics;
  readonly #ids = new Set<string>();
  #section = { file: '', itemCount: 0, hasCarriageReturn: false, lastLine: 1 };

  constructor(found: Diagnostics) {
    this.#found = found;
  }

  begin(file: string): void {
    this.#section = { file, itemCount: 0, hasCarriageReturn: false, lastLine: 1 };
  }

  line({ location, bytes, item, errors }: CheckedLine): void {
    const found = this.#found;
    const section = this.#section;
    section.lastLine = location.line ?? section.lastLine;
    const endsWithReturn = bytes.at(-1) === CARRIAGE_RETURN;
    if (endsWithReturn && !section.hasCarriageReturn) {
      section.hasCarriageReturn = true;
      found.style('style_crlf', 'Lines end with CR LF; an export writes LF', location);
    }
    if (item === null) {
      if (errors.length === 0) found.style('style_blank_line', 'The line is blank', location);
      return;
    }
    section.itemCount += 1;
    const text = endsWithReturn ? bytes.subarray(0, -1) : bytes;
    if (!Buffer.from(canonicalJson(item)).equals(text)) {
      const message = 'The line is not in the canonical form that an export writes';
      found.style('style_not_canonical', message, location);
    }
    const type = getMember(item, 'type');
    if (typeof type === 'string' && !KNOWN_TYPES.has(type)) {
      const message = `Unknown type ${JSON.stringify(shortened(type))}; the format defines ${[...KNOWN_TYPES].join(', ')}`;
      found.style('style_unknown_type', message, { ...location, path: '/type' });
    }
    this.#lintId(item, location);
    if (!hasPrompt(item)) {
      found.style('style_no_prompt', 'The item has no inputs.prompt and no inputs.messages', location);
    }
  }

  end({ hasByteOrderMark, endsWithLineFeed }: FileEnds): void {
    const found = this.#found;
    const { file, itemCount, lastLine: line } = this.#section;
    if (hasByteOrderMark) {
      found.style('style_byte_order_mark', 'The file begins with a byte order mark', { file, line: 1 });
    }
    if (itemCount === 0) found.style('style_empty_section', 'The section has no items', { file });
    if (!endsWithLineFeed) {
      const message = 'The last line does not end with a line feed';
      found.style('style_no_final_newline', message, { file, line });
    }
  }

  files(ignored: readonly string[], unused: readonly string[]): void {
    for (const file of ignored.filter((name) => !FOR_PEOPLE.test(name))) {
      const message = 'The file is not part of the package; an import ignores it';
      this.#found.style('style_ignored_entry', message, { file });
    }
    for (const file of unused) this.#found.style('style_unused_file', 'No item refers to the file', { file });
  }

  #lintId(item: Item, location: SourceLocation): void {
    const id = getMember(item, 'id');
    if (id === undefined) {
      this.#found.style('style_missing_id', 'The item has no id', location);
      return;
    }
    const text = canonicalJson(id);
    const key = text.length <= 64 ? text : createHash('sha256').update(text).digest('base64');
    if (this.#ids.has(key)) {
      const message = `Duplicate id ${shortened(text)}`;
      this.#found.style('style_duplicate_id', message, { ...location, path: '/id' });
    } else if (this.#ids.size < MAX_COMPARED_IDS) this.#ids.add(key);
  }
}

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 99)}…` : text);

/** Files that describe the dataset to people, which a conversion keeps. */
const FOR_PEOPLE = /^(?:readme|licen[cs]e|notice|citation|changelog)(?:\.[a-z]+)?$/i;

/** Whether a run can ask the item something; choices and images are enough. */
function hasPrompt(item: Item): boolean {
  const inputs = getMember(item, 'inputs');
  if (getMember(item, 'assets') !== undefined) return true;
  if (!isJsonObject(inputs)) return false;
  const messages = getMember(inputs, 'messages');
  if (Array.isArray(messages) && messages.length > 0) return true;
  return typeof getMember(inputs, 'prompt') === 'string' || getMember(inputs, 'choices') !== undefined;
}
