import type { Tool } from '@svc/formats';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { Mapping } from '@svc/jsonl-v23/mapping';
import { type PackageReader, readPackage } from '@svc/pkg-format';
import type { FileOptions } from '@svc/tabular';
import {
  type FilesPreview,
  inferSchema,
  JsonInference,
  type PreviewOptions,
  previewFiles,
  RowsCollector,
  readRows,
  type SkippedFiles,
  toMappable,
} from '@svc/tabular/internal';
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

async function previewPackage(
  pkg: PackageReader,
  { limit, maxBytes, signal }: PreviewOptions,
): Promise<UploadPreview> {
  const [section] = pkg.sections;
  const builder = inferSchema(new JsonInference(), { textColumns: 'all' });
  const rows: JsonObject[] = [];
  if (section !== undefined) {
    const { file } = section;
    try {
      for await (const raw of readRows(section.bytes({ signal }), 'json', { file, signal })) {
        if (!isJsonObject(raw.row)) break;
        builder.add(raw);
        rows.push(raw.row);
        if (rows.length >= limit) break;
      }
    } catch (error) {
      throw toUploadError(error, file);
    }
  }
  const features = builder.finish().features.map(toMappable);
  const collector = new RowsCollector(features, null, maxBytes);
  for (const [index, row] of rows.entries()) await collector.add(row, index, '');
  const sections = pkg.sections
    .slice(0, MAX_SECTIONS)
    .map(({ name, file }) => ({ file, section: name, format: 'jsonl' }));
  const schema = pkg.meta === null ? undefined : getMember(pkg.meta, 'schema');
  const lost = isJsonObject(schema) ? getMember(schema, 'lost') : undefined;
  return {
    ...{
      kind: 'package',
      format: null,
      options: null,
      features,
      numRows: null,
      info: { sections, ...(lost === undefined ? {} : { lost }) },
      skipped: NONE_SKIPPED,
    },
    ...collector.end(),
    suggestion: null,
  };
}

const MAX_SECTIONS = 100;

const NONE_SKIPPED: SkippedFiles = { first: [], total: 0 };

/** Preview of a legacy archive: empty until it is converted. */
const LEGACY_PREVIEW: UploadPreview = {
  ...{ kind: 'legacy_package', format: null, options: null, features: [], numRows: null, info: {} },
  skipped: NONE_SKIPPED,
  ...{ samples: [], truncatedCells: [], suggestion: null, items: null },
};
