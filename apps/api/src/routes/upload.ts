import { randomUUID } from 'node:crypto';
import { type DatasetWriter, type RowEncoder, uploadPackage } from '@svc/flows';
import type { Logger, Metrics } from '@svc/observability';
import { openPackageFile } from '@svc/pkg-format/node';
import type { Config } from '@svc/process';
import { json } from '../http/answer.ts';
import type { Gate } from '../http/gate.ts';
import { receiveUpload } from '../http/receive-upload.ts';
import type { Route } from '../http/route.ts';
import type { Spool } from '../http/spool-file.ts';
import { summaryBody } from './dataset-body.ts';
import { parseName } from './dataset-fields.ts';
import { observeImport } from './observe-import.ts';
import { packageLimits } from './package-limits.ts';
import { DATASET_SUMMARY } from './schemas.ts';

export interface UploadDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: { readonly datasets: DatasetWriter };
  readonly encoder: RowEncoder;
  readonly spool: Spool;
  readonly gate: Gate;
}

/** `POST /datasets/upload`: form → spool file → checked package → stored dataset. */
export function uploadRoute(deps: UploadDeps): Route {
  const { config, store, encoder, spool, gate } = deps;
  return {
    method: 'post',
    path: '/datasets/upload',
    operationId: 'uploadDataset',
    summary: 'Import a package archive',
    tag: 'datasets',
    access: 'editor',
    body: {
      contentType: 'multipart/form-data',
      schema: {
        type: 'object',
        properties: {
          file: { type: 'string', format: 'binary', description: 'a .pkg.zip archive' },
          name: { type: 'string', description: 'else the manifest’s name, else the file name' },
          description: { type: 'string', description: 'else the one in meta.json' },
        },
        required: ['file'],
      },
    },
    produces: 'application/json',
    responses: { 201: { description: 'the stored dataset', schema: DATASET_SUMMARY } },
    errors: [
      'package_no_sections',
      'package_invalid_json',
      'package_invalid_line',
      'package_not_a_zip',
      'package_unsafe_entry',
      'package_corrupt',
      'package_hash_mismatch',
      'package_missing_file',
      'package_unsupported',
      'package_limit',
      'upload_too_large',
      'unsupported_media_type',
      'unavailable',
    ],
    handle: async ({ raw, signal }) => {
      await using upload = await receiveUpload(raw, spool, config, ['name', 'description'], signal);
      const name = parseName(upload.fields.get('name'));
      using _place = await gate.enter(signal);
      const dataset = await observeImport(
        deps,
        { source: 'pkg_zip', bytes: upload.bytes },
        signal,
        (onProgress) =>
          uploadPackage(
            {
              open: () => openPackageFile(upload.path, { limits: packageLimits(config) }),
              id: randomUUID(),
              name,
              description: upload.fields.get('description'),
              fileName: upload.fileName,
              maxLineBytes: config.maxLineBytes,
              maxDepth: config.maxJsonDepth,
              signal,
              onProgress,
            },
            { store: store.datasets, encoder, newId: randomUUID },
          ),
      );
      return json(summaryBody(dataset), 201, { Location: `/datasets/${dataset.id}` });
    },
  };
}
