import { canonicalJson } from '@svc/jsonl-v23/json';
import {
  invalidRequest,
  type JsonBody,
  JsonText,
  json,
  type Route,
  type Schema,
  shape,
  watchUploadRate,
} from '@svc/service';
import { openUpload, previewUpload, TOOLS, type UploadPreview } from '@svc/service/flows';
import { receiveUpload } from '../../http/receive-upload.ts';
import type { RouteDeps } from '../deps.ts';
import { SKIPPED_FILES } from '../docs/schemas.ts';
import { PREVIEW_ROWS, serializeRows, serializeSkippedFiles } from '../hub/schema.ts';
import { UPLOAD_ERRORS } from './upload.ts';
import { readUploadForm, UPLOAD_FIELDS, UPLOAD_FORM } from './upload-form.ts';

const LIMIT: Schema = { type: 'integer', minimum: 1, maximum: 100, default: 10 };
const DEFAULT_LIMIT = 10;

/** The preview of an upload. */
export const UPLOAD_PREVIEW: Schema = shape(
  {
    kind: { type: 'string', enum: ['package', 'legacy_package', 'items', 'table', ...TOOLS] },
    format: { type: ['string', 'null'] },
    options: { type: ['object', 'null'], description: 'the detected format of the file' },
    features: { type: 'array', items: shape({ name: { type: 'string' }, dtype: { type: 'string' } }) },
    num_rows: { type: ['integer', 'null'], minimum: 0 },
    info: { type: 'object' },
    ...SKIPPED_FILES,
    ...PREVIEW_ROWS,
  },
  ['items', ...Object.keys(SKIPPED_FILES)],
);

/** `POST /datasets/upload/preview`: form → staging files → the first rows. Nothing is stored. */
export function uploadPreviewRoute(deps: RouteDeps): Route {
  const { config, staging, limits, uploads, converter } = deps;
  const schema = { ...UPLOAD_FORM, properties: { ...(UPLOAD_FORM['properties'] as object), limit: LIMIT } };
  return {
    method: 'post',
    path: '/datasets/upload/preview',
    operationId: 'previewUpload',
    summary: 'Preview a package, items, or files with tables; nothing is stored',
    tag: 'datasets',
    access: 'editor',
    body: { contentType: 'multipart/form-data', schema },
    produces: 'application/json',
    responses: { 200: { description: 'the preview', schema: UPLOAD_PREVIEW } },
    errors: UPLOAD_ERRORS,
    handle: async (request) => {
      const { raw, signal } = request;
      raw.pause();
      using _permit = await uploads.acquire(signal, { client: request.client });
      using arriving = watchUploadRate(raw, config.slowUploadTimeoutMs, signal);
      const fields = [...UPLOAD_FIELDS, 'limit'];
      await using received = await receiveUpload(raw, staging, config, fields, arriving.signal);
      const limit = readLimit(received.fields.get('limit'));
      const form = readUploadForm(received);
      await using upload = await openUpload(received.files, form, { staging, limits, converter }, signal);
      const maxBytes = Math.floor(config.maxPreviewBytes * (1 - HEAD_SHARE));
      return json(serialize(await previewUpload(upload, form.mapping, { limit, maxBytes, signal })));
    },
  };
}

function readLimit(text: string | undefined): number {
  if (text === undefined || text === '') return DEFAULT_LIMIT;
  if (/^(?:[1-9][0-9]?|100)$/.test(text)) return Number(text);
  throw invalidRequest('limit', 'limit must be a number from 1 to 100.');
}

/** What the members of a preview take besides its rows, of many columns. */
const HEAD_SHARE = 0.25;

function serialize(preview: UploadPreview): JsonBody {
  const { kind, format, options, features, numRows, info } = preview;
  return {
    kind,
    format,
    options: options === null ? null : { ...options },
    features: features.map(({ name, dtype }) => ({ name, dtype })),
    num_rows: numRows,
    info: new JsonText(canonicalJson(info)),
    ...serializeSkippedFiles(preview.skipped),
    ...serializeRows(preview),
  };
}
