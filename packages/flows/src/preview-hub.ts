import {
  canonicalJson,
  embeddedEntry,
  getMember,
  isFileCell,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MappableFeature,
  type Mapping,
  setMember,
} from '@svc/jsonl-v23';
import type { Hub, HubReference, HubSelection } from './hub-port.ts';

export interface PreviewOptions extends HubReference {
  readonly subset?: string | undefined;
  readonly split?: string | undefined;
  /** rows to show */
  readonly limit: number;
  /** bytes that all samples together may take */
  readonly maxBytes: number;
}

/** A cell that is shown in part. */
export interface TruncatedCell {
  /** 0-based index into `samples` */
  readonly row: number;
  readonly column: string;
  /** size of the whole cell as JSON text, in bytes */
  readonly bytes: number;
}

/** What a person sees before importing. */
export interface Preview {
  readonly features: readonly MappableFeature[];
  readonly samples: readonly JsonObject[];
  /** rows of the resolved slice; null where only reading the data would tell */
  readonly numRows: number | null;
  readonly info: JsonObject;
  readonly subset: string;
  readonly split: string;
  readonly resolvedRevision: string;
  readonly splits: HubSelection['splits'];
  readonly suggestedMapping: Mapping | null;
  readonly truncatedCells: readonly TruncatedCell[];
}

/** Somebody waits for a preview: it tries less hard than an import, and not for ever. */
const PATIENCE = { budgetMs: 30_000, retry: { maxRetries: 2, baseDelayMs: 250 } } as const;

/** A cell beyond this is shortened; images are not, as long as the whole answer has room. */
const MAX_CELL_BYTES = 16 * 1024;

/** Reads what is known of a slice and its first rows. Nothing is stored. */
export async function previewHub(options: PreviewOptions, hub: Hub): Promise<Preview> {
  const { signal } = options;
  const { path, revision, token, subset, split } = options;
  const dataset = await hub.openDataset({ path, revision, token, signal, ...PATIENCE });
  const selection = await dataset.select({ subset, split, signal });
  const samples: JsonObject[] = [];
  const truncatedCells: TruncatedCell[] = [];
  let room = options.maxBytes;
  const batches = selection.rowBatches({ limit: options.limit, signal });
  for await (const batch of batches) {
    for (const { row } of batch) {
      const sample: JsonObject = {};
      for (const [column, cell] of Object.entries(row)) {
        const shown = showCell(cell, room);
        if (shown.wholeBytes !== undefined) {
          truncatedCells.push({ row: samples.length, column, bytes: shown.wholeBytes });
        }
        room -= shown.bytes;
        setMember(sample, column, shown.value);
      }
      samples.push(sample);
    }
  }
  return {
    features: selection.features,
    samples,
    numRows: selection.numRows,
    info: selection.info,
    subset: selection.subset,
    split: selection.split,
    resolvedRevision: dataset.resolvedRevision,
    splits: selection.splits,
    suggestedMapping: selection.suggestedMapping,
    truncatedCells,
  };
}

interface ShownCell {
  readonly value: JsonValue;
  /** what it takes of the answer */
  readonly bytes: number;
  /** where it was shortened, what it would have taken */
  readonly wholeBytes?: number;
}

function showCell(cell: JsonValue, room: number): ShownCell {
  const value = showFiles(cell);
  const isFile = value !== cell;
  const text = canonicalJson(value);
  const bytes = Buffer.byteLength(text);
  const most = Math.max(0, isFile ? room : Math.min(MAX_CELL_BYTES, room));
  if (bytes <= most) return { value, bytes };
  if (isFile) return { value: withoutData(value), bytes: 100, wholeBytes: bytes };
  // A shortened string stays a string; anything else is shown as the start of its JSON text.
  const start = shorten(typeof value === 'string' ? value : text, most);
  return { value: start, bytes: Buffer.byteLength(JSON.stringify(start)), wholeBytes: bytes };
}

/** An image or audio cell, or a list of them, as asset entries that a page can show. */
function showFiles(cell: JsonValue): JsonValue {
  if (Array.isArray(cell)) {
    const shown = cell.map(showFiles);
    return shown.some((entry, index) => entry !== cell[index]) ? shown : cell;
  }
  if (!isJsonObject(cell) || !isFileCell(cell)) return cell;
  const bytes = getMember(cell, 'bytes') ?? null;
  const path = getMember(cell, 'path') ?? null;
  if (typeof bytes === 'string') return embeddedEntry(bytes, path);
  return typeof path === 'string' && /^https?:\/\//i.test(path) ? { url: path } : cell;
}

function withoutData(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutData);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => key !== 'data'));
}

/** The longest start of a text that fits, without half a character at its end. */
function shorten(text: string, maxBytes: number): string {
  let start = text.slice(0, maxBytes);
  while (Buffer.byteLength(JSON.stringify(start)) > maxBytes && start !== '') {
    start = start.slice(0, Math.floor(start.length * 0.9));
  }
  return start.replace(/[\ud800-\udbff]$/, '');
}
