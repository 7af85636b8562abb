import type { Tool } from '@svc/formats';
import { getMember, isJsonObject } from '@svc/jsonl-v23/json';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import { type PackageReader, readPackage } from '@svc/pkg-format';
import type { FileOptions } from '@svc/tabular';
import { type FilesPreview, type PreviewOptions, previewFiles, previewLines } from '@svc/tabular/datasets';
import type { OpenUpload } from './sources/open-upload.ts';
import { toUploadError } from './sources/uploaded-file.ts';

export interface UploadPreview extends Omit<FilesPreview, 'kind' | 'format' | 'options'> {
  readonly kind: 'package' | 'legacy_package' | Tool | FilesPreview['kind'];
  /** As detected; null for archives. */
  readonly format: string | null;
  readonly options: FileOptions | null;
}

/**
 * Previews an upload. Nothing is stored.
 *
 * @throws PackageError; UploadError `unsupported_file`; JsonlError, ImportErrors for the mapping; errors of the files
 */
export async function previewUpload(
  upload: OpenUpload,
  mapping: Mapping | null,
  options: PreviewOptions,
): Promise<UploadPreview> {
  if (upload.kind === 'legacy_package') return LEGACY_PREVIEW;
  if (upload.kind === 'package') {
    const preview = await previewPackage(await readPackage(upload.archive), options);
    return upload.tool === null ? preview : { ...preview, kind: upload.tool };
  }
  return await previewFiles(upload, mapping, options).catch((error: unknown) => {
    throw toUploadError(error);
  });
}

async function previewPackage(pkg: PackageReader, options: PreviewOptions): Promise<UploadPreview> {
  const [section] = pkg.sections;
  let shown: Awaited<ReturnType<typeof previewLines>> = NO_ROWS;
  if (section !== undefined) {
    const { file } = section;
    const content = section.bytes({ signal: options.signal });
    shown = await previewLines(content, { ...options, file }).catch((error: unknown) => {
      throw toUploadError(error, file);
    });
  }
  const sections = pkg.sections
    .slice(0, MAX_SECTIONS)
    .map(({ name, file }) => ({ file, section: name, format: 'jsonl' }));
  const schema = pkg.meta === null ? undefined : getMember(pkg.meta, 'schema');
  const lost = isJsonObject(schema) ? getMember(schema, 'lost') : undefined;
  const info = { sections, ...(lost === undefined ? {} : { lost }) };
  return { ...NO_FILE, kind: 'package', info, ...shown };
}

const MAX_SECTIONS = 100;

const NO_ROWS = { features: [], samples: [], truncatedCells: [], suggestion: null, items: null };

/** What archives have in place of the facts of a file. */
const NO_FILE = { format: null, options: null, numRows: null, skipped: { first: [], total: 0 } } as const;

/** Preview of a legacy archive: empty until it is converted. */
const LEGACY_PREVIEW: UploadPreview = { ...NO_FILE, kind: 'legacy_package', info: {}, ...NO_ROWS };
