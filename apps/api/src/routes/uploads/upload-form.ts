import { JsonlError } from '@svc/jsonl-v23';
import { isDatasetName, MAPPING_SCHEMA } from '@svc/jsonl-v23/internal';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { readMapping } from '@svc/jsonl-v23/mapping';
import { invalidRequest, type Schema } from '@svc/service';
import type { FileRequest, OpenUploadRequest } from '@svc/service/flows';
import { checkHandle } from '@svc/store';
import { FILE_FORMATS } from '@svc/tabular';
import type { Upload } from '../../http/receive-upload.ts';
import { MESSAGE } from '../datasets/change.ts';

/** Names of the fields of an upload form, besides its files. */
export const UPLOAD_FIELDS: readonly string[] = [
  'name',
  'description',
  'mapping',
  'format',
  'options',
  'convert',
];

const OPTIONS: Schema = {
  type: 'object',
  properties: {
    delimiter: { type: 'string', minLength: 1, maxLength: 1 },
    quote: {
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 1,
      description: 'null: quotes are ordinary characters',
    },
    encoding: { type: 'string', description: 'such as `utf-8`, `utf-16`, `latin-1`, `cp1252`' },
    header: { type: 'boolean', description: 'true if the first row has the column names' },
  },
  additionalProperties: false,
  description: 'overrides the detection',
};

/** The schema of an upload form. */
export const UPLOAD_FORM: Schema = {
  type: 'object',
  properties: {
    file: {
      type: 'array',
      items: { type: 'string', format: 'binary' },
      minItems: 1,
      maxItems: 1000,
      description:
        'a package; files with a table (CSV, TSV, JSON Lines, JSON, Parquet, text; also .gz, .zst or in a ZIP archive); JSON Lines of items; or files of other tools: lm-evaluation-harness, Inspect, promptfoo, OpenAI evals and batches',
    },
    name: { type: 'string', description: 'default: the name in the manifest, else the file name' },
    description: { type: 'string', description: 'default: the description in `meta.json`' },
    mapping: { ...MAPPING_SCHEMA, description: 'required for tables' },
    format: { type: 'string', enum: FILE_FORMATS, description: 'overrides the detection' },
    options: OPTIONS,
    convert: { type: 'boolean', description: 'convert an older archive' },
    handle: { type: 'string', description: 'short name that is unique without regard to case' },
    message: MESSAGE,
  },
  required: ['file'],
};

/** The fields of an upload form. */
export interface UploadForm extends Omit<FileRequest, 'origins'>, OpenUploadRequest {
  readonly handle: string | null;
  /** What the history says of the version. */
  readonly message: string | null;
  /** All fields in one text, for the digest of the request. */
  readonly digest: string;
}

/** Reads the fields of an upload form. @throws RequestError `invalid_request` */
export function readUploadForm({ fields }: Pick<Upload, 'fields'>): UploadForm {
  const mapping = readObject(fields, 'mapping');
  const digest = canonicalJson(Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1))));
  return {
    name: readName(fields.get('name')),
    description: readDescription(fields.get('description')),
    mapping: mapping === null ? null : toMapping(mapping),
    mappingAsSent: mapping,
    hints: { ...readOptions(readObject(fields, 'options') ?? {}), ...readFormat(fields.get('format')) },
    convert: readFlag(fields.get('convert')),
    handle: readHandle(fields.get('handle')),
    message: fields.get('message') ?? null,
    digest,
  };
}

/** The same rules as of `NAME` in JSON bodies. */
function readName(name: string | undefined): string | undefined {
  if (name === undefined || isDatasetName(name)) return name;
  throw invalidRequest(
    'name',
    'name must have 1 to 255 characters, not all of them blank, and no control characters.',
  );
}

function readDescription(text: string | undefined): string | undefined {
  if (text === undefined || (text.isWellFormed() && !text.includes('\0'))) return text;
  throw invalidRequest('description', 'description must hold neither NUL nor half of a surrogate pair.');
}

function readHandle(handle: string | undefined): string | null {
  if (handle === undefined || handle === '') return null;
  checkHandle(handle);
  return handle;
}

function readObject(fields: ReadonlyMap<string, string>, name: string): JsonObject | null {
  const text = fields.get(name);
  if (text === undefined || text === '') return null;
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    throw invalidRequest(name, `${name} must be JSON: ${error.message}.`, error);
  }
  if (value === null) return null;
  if (!isJsonObject(value)) throw invalidRequest(name, `${name} must be a JSON object.`);
  return value;
}

function toMapping(value: JsonObject): FileRequest['mapping'] {
  try {
    return readMapping(value);
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { path = '/mapping' } = error.location;
    throw invalidRequest(path, `${error.message}.`, error);
  }
}

function readFormat(format: string | undefined): Pick<OpenUploadRequest['hints'], 'format'> {
  if (format === undefined || format === '') return {};
  const known = FILE_FORMATS.find((name) => name === format);
  if (known === undefined)
    throw invalidRequest('format', `format must be one of ${FILE_FORMATS.join(', ')}.`);
  return { format: known };
}

function readOptions(options: JsonObject): OpenUploadRequest['hints'] {
  const unknown = Object.keys(options).find((key) => !KNOWN_OPTIONS.includes(key));
  if (unknown !== undefined)
    throw invalidRequest('options', `options must not have the key "${unknown.slice(0, 100)}".`);
  const { delimiter, quote, encoding, header } = options;
  for (const [name, value] of Object.entries({ delimiter, quote })) {
    const isMissing = value === undefined || (value === null && name === 'quote');
    if (!isMissing && !(typeof value === 'string' && /^[\t\x20-\x7e]$/.test(value))) {
      throw invalidRequest('options', `options.${name} must be one ASCII character.`);
    }
  }
  if (encoding !== undefined && typeof encoding !== 'string')
    throw invalidRequest('options', 'options.encoding must be a text.');
  if (header !== undefined && typeof header !== 'boolean')
    throw invalidRequest('options', 'options.header must be true or false.');
  if (delimiter !== undefined && delimiter === quote)
    throw invalidRequest('options', 'options.delimiter and options.quote must differ.');
  return options as OpenUploadRequest['hints'];
}

const KNOWN_OPTIONS = ['delimiter', 'quote', 'encoding', 'header'];

function readFlag(text: string | undefined): boolean {
  if (text === undefined || text === '' || text === 'false') return false;
  if (text === 'true') return true;
  throw invalidRequest('convert', 'convert must be true or false.');
}
