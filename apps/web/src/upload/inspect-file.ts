import {
  checkItems,
  createSectionHasher,
  itemHash,
  JsonlError,
  type LocatedItem,
  readItems,
  type SourceLocation,
  versionHash,
} from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import {
  checkPackage,
  type FoundVersion,
  openPackage,
  PackageError,
  readPackageItems,
} from '@svc/pkg-format';

type FileProblem = SourceLocation & { readonly message: string };

type FileKind = 'package' | 'items' | 'table';

export type Inspection =
  | { readonly state: 'reading'; readonly kind: FileKind; readonly items: number }
  | ReturnType<Findings['end']>;

const FIRST_ITEMS = 20;
const REPORT_MS = 100;

/** As many as the service lists. */
const MAX_ERRORS = 100;

/** Reads a file as the service would, and reports how far it is, and in the end what is in it. Nothing is sent. */
export async function* inspectFile(file: File): AsyncGenerator<Inspection> {
  const found = new Findings();
  try {
    found.kind = await detectKind(file);
    if (found.kind === 'package') yield* inspectPackage(file, found);
    else if (found.kind === 'items') yield* inspectItems(file, found);
  } catch (error) {
    found.add(error);
  }
  yield found.end();
}

// Reading ends at the first error; the check goes on, but takes longer, so only a file with an error is checked.

async function* inspectItems(file: File, found: Findings): AsyncGenerator<Inspection> {
  const open = () => file.stream();
  const options = { file: file.name };
  try {
    yield* found.read('default', readItems(open(), options));
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    for await (const { errors = [] } of checkItems(open(), options)) for (const one of errors) found.add(one);
  }
}

async function* inspectPackage(file: File, found: Findings): AsyncGenerator<Inspection> {
  try {
    await using pkg = await openPackage(file);
    for (const section of pkg.sections) yield* found.read(section.name, readPackageItems(pkg, section));
    await pkg.verify(found.version);
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    // a package counts what is read of it towards its limits
    await using pkg = await openPackage(file);
    for await (const one of checkPackage(pkg)) found.add(one);
    if (!found.hasErrors) throw error;
  }
}

class Findings {
  kind: FileKind = 'items';
  readonly #sections: FoundVersion['sections'][number][] = [];
  readonly #first: string[] = [];
  readonly #errors: FileProblem[] = [];
  #errorsTotal = 0;
  #items = 0;

  async *read(name: string, items: AsyncIterable<LocatedItem>): AsyncGenerator<Inspection> {
    const hasher = createSectionHasher(name);
    let count = 0;
    let reportedAt = performance.now();
    for await (const { item } of items) {
      hasher.add(itemHash(item));
      if (this.#first.length < FIRST_ITEMS) this.#first.push(canonicalJson(item));
      count += 1;
      this.#items += 1;
      if (performance.now() - reportedAt < REPORT_MS) continue;
      reportedAt = performance.now();
      yield { state: 'reading', kind: this.kind, items: this.#items };
    }
    this.#sections.push({ name, itemCount: count, sectionHash: hasher.digest() });
  }

  get version(): FoundVersion {
    const sections = this.#sections;
    return { sections, versionHash: versionHash(sections.map(({ sectionHash }) => sectionHash)) };
  }

  get hasErrors(): boolean {
    return this.#errorsTotal > 0;
  }

  add(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    const location: SourceLocation | undefined =
      error instanceof JsonlError || error instanceof PackageError ? error.location : undefined;
    this.#errorsTotal += 1;
    if (this.#errors.length < MAX_ERRORS) this.#errors.push({ message, ...location });
  }

  end() {
    return {
      state: 'read' as const,
      kind: this.kind,
      items: this.#items,
      sections: this.#sections,
      /** The first items, as exact JSON text. */
      first: this.#first,
      /** Null for a table, which has no items before it is mapped, and with errors. */
      versionHash: this.hasErrors || this.kind === 'table' ? null : this.version.versionHash,
      errors: this.#errors,
      errorsTotal: this.#errorsTotal,
    };
  }
}

/** Keys that items have and rows of tables hardly. */
const ITEM_KEYS = ['inputs', 'answer', 'criteria', 'checker'];

/** Tells by its first bytes what a file is: an archive, JSON Lines of items, or a table. The server decides. */
async function detectKind(file: File): Promise<FileKind> {
  const bytes = new Uint8Array(await file.slice(0, 64 * 1024).arrayBuffer());
  if (bytes[0] === 0x50 && bytes[1] === 0x4b) return (await hasSections(file)) ? 'package' : 'table';
  if (!/\.(?:jsonl|ndjson|json)$/i.test(file.name)) return 'table';
  const [line = ''] = new TextDecoder().decode(bytes).split('\n', 1);
  try {
    const value: unknown = JSON.parse(line);
    const isItem = typeof value === 'object' && value !== null && ITEM_KEYS.some((key) => key in value);
    return isItem && !Array.isArray(value) && 'inputs' in value ? 'items' : 'table';
  } catch {
    return 'table';
  }
}

const TAIL_BYTES = 1024 * 1024;

/** Whether the directory at the end of an archive names a section. */
async function hasSections(file: File): Promise<boolean> {
  const tail = new Uint8Array(await file.slice(Math.max(0, file.size - TAIL_BYTES)).arrayBuffer());
  return new TextDecoder('latin1').decode(tail).includes('sections/');
}
