import { splitLines } from '@svc/jsonl-v23/internal';
import { canonicalJson, getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { PackageReader, PackageSection } from '@svc/pkg-format';
import { collectSections, type SectionCollector } from './collect-sections.ts';
import { encodeWithFiles } from './encode-with-files.ts';
import { mapOrdered } from './map-ordered.ts';
import type { DatasetSummary, DatasetWriter, ImportOutcome, RowEncoder, SectionTarget } from './ports.ts';
import { provenanceOf } from './provenance.ts';

export interface UploadOptions {
  /** opens the archive; the flow closes it */
  readonly open: () => Promise<PackageReader>;
  /** uuid of the dataset to be */
  readonly id: string;
  /** as the caller gave them; absent values come from the package */
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** the archive's own file name, the last source of a name */
  readonly fileName: string;
  readonly maxLineBytes: number;
  readonly maxDepth: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (done: { readonly items: number; readonly bytes: number }) => void;
}

export interface UploadPorts {
  readonly store: DatasetWriter;
  readonly encoder: RowEncoder;
  /** a new uuid */
  readonly newId: () => string;
}

/** The longest name of a dataset, in characters. */
const MAX_NAME_LENGTH = 255;

/**
 * Imports a package archive: archive → sections in order → lines → items (files put back in) → rows → store,
 * all in one pass and one transaction. Memory is bounded by a few batches of lines and one item with its files.
 *
 * @throws PackageError, with the entry and the line; whatever the store throws. Nothing is stored then.
 */
export async function uploadPackage(options: UploadOptions, ports: UploadPorts): Promise<DatasetSummary> {
  await using pkg = await options.open();
  const collector = collectSections();

  async function* rows(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for (const section of pkg.sections) {
      const target = { id: ports.newId(), name: section.name, orderIndex: section.orderIndex };
      collector.begin(target);
      try {
        for await (const encoded of encodeSection(pkg, section, target, collector, options, ports.encoder)) {
          bytes += encoded.sourceBytes;
          options.onProgress?.({ items: collector.itemCount, bytes });
          yield encoded.rows;
        }
      } catch (error) {
        throw await pkg.explain(error, section.file, options.signal);
      }
    }
  }

  async function finish(): Promise<ImportOutcome> {
    const { sections, versionHash } = collector.end();
    await pkg.verify({ sections, versionHash }, options.signal);
    return {
      dataset: {
        id: options.id,
        name: options.name ?? packageName(pkg.manifest, options.fileName),
        description: options.description ?? textOf(memberOf(pkg.meta, 'description')),
        notes: textOf(memberOf(pkg.meta, 'notes')),
        source: 'pkg_zip',
        schema: canonicalJson(provenanceOf(pkg.manifest, pkg.meta)),
        versionHash,
        itemCount: collector.itemCount,
        assetCount: collector.assetCount,
      },
      sections,
    };
  }

  return await ports.store.saveDataset(rows(), finish, { signal: options.signal });
}

/** The rows of one section, in order; a batch whose items name files of the archive is put together here. */
async function* encodeSection(
  pkg: PackageReader,
  section: PackageSection,
  target: SectionTarget,
  collector: SectionCollector,
  options: UploadOptions,
  encoder: RowEncoder,
): AsyncGenerator<{ readonly rows: Uint8Array; readonly sourceBytes: number }> {
  const { maxLineBytes, maxDepth, signal } = options;
  const { file } = section;
  let firstOrderIndex = 0;
  const lineOptions = { file, maxDepth, maxLineBytes };
  const batches = splitLines(section.bytes(signal), { file, maxLineBytes, signal });
  const encodedBatches = mapOrdered(batches, encoder.parallelism, async (batch) => {
    const first = firstOrderIndex;
    firstOrderIndex += batch.itemCount;
    const sourceBytes = batch.bytes.byteLength;
    const encoded = await encoder.encodeLines(batch, target, first, lineOptions);
    return { first, sourceBytes, encoded };
  });
  for await (const { first, sourceBytes, encoded } of encodedBatches) {
    signal.throwIfAborted();
    if ('rows' in encoded) {
      collector.add(encoded);
      yield { rows: encoded.rows, sourceBytes };
      encoder.recycle(encoded);
      continue;
    }
    const withFiles = encodeWithFiles(pkg, encoded, target, first, { ...lineOptions, signal }, encoder);
    for await (const some of withFiles) {
      collector.add(some);
      yield { rows: some.rows, sourceBytes: 0 };
      encoder.recycle(some);
    }
    yield { rows: new Uint8Array(0), sourceBytes };
  }
}

const memberOf = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object === null ? undefined : getMember(object, key);

const textOf = (value: JsonValue | undefined): string | null => (typeof value === 'string' ? value : null);

/** The manifest's name, else the file's name without its extension, cut to what a name may be. */
function packageName(manifest: JsonObject | null, fileName: string): string {
  const own = memberOf(manifest, 'name');
  if (typeof own === 'string' && own.trim() !== '' && own.length <= MAX_NAME_LENGTH) return own;
  const base = fileName.split(/[/\\]/).at(-1) ?? '';
  const bare = base.replace(/(\.pkg)?\.zip$/i, '') || base;
  return bare.trim() === '' ? 'package' : [...bare].slice(0, MAX_NAME_LENGTH).join('');
}
