import {
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonText,
  setMember,
} from '@svc/jsonl-v23/json';
import { embeddedEntry, isFileCell } from '@svc/jsonl-v23/mapping';

/** A cell that is shown in part. */
export interface TruncatedCell {
  /** 0-based index into `samples` */
  readonly row: number;
  readonly column: string;
  /** Size of the whole cell as JSON text, in bytes. */
  readonly bytes: number;
}

/** Rows as a preview shows them. */
export interface PreviewSamples {
  readonly samples: readonly JsonObject[];
  readonly truncatedCells: readonly TruncatedCell[];
}

/** A cell beyond this is shortened; images are not. */
const MAX_CELL_BYTES = 16 * 1024;

/**
 * Collects rows whose JSON text and list of shortened cells take at most `maxBytes` together. A cell takes at most 16
 * KiB, and its share of the room that is left for its row. An image takes at most half of the room that is left, or is
 * described without its data. The first row without room is the last one: up to a cell of each column stays unused.
 */
export class SampleCollector {
  readonly #samples: JsonObject[] = [];
  readonly #truncated: TruncatedCell[] = [];
  #room: number;
  isFull = false;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  add(row: JsonObject): void {
    const cells = Object.entries(row);
    const index = this.#samples.length;
    const sample: JsonObject = {};
    const truncated: TruncatedCell[] = [];
    let room = this.#room - ROW_BYTES;
    const share = room / cells.length;
    for (const [column, value] of cells) {
      const whole = showFiles(value);
      const entry = { row: index, column, bytes: jsonBytes(whole) };
      const nameBytes = jsonBytes(column) + 2;
      const isImage = whole !== value;
      const most = isImage ? room / 2 : Math.min(MAX_CELL_BYTES, share - nameBytes);
      let shown = whole;
      if (entry.bytes > most) {
        const described = isImage ? withoutData(whole) : whole;
        const limit = Math.min(most, share - nameBytes - jsonBytes(entry) - 1);
        shown = isImage && jsonBytes(described) <= limit ? described : startOf(described, limit);
      }
      room -= nameBytes + jsonBytes(shown);
      if (shown !== whole) room -= jsonBytes(truncated[truncated.push(entry) - 1]) + 1;
      setMember(sample, column, shown);
    }
    this.isFull = room < 0;
    if (this.isFull) return;
    this.#room = room;
    this.#samples.push(sample);
    this.#truncated.push(...truncated);
  }

  end(): PreviewSamples {
    return { samples: this.#samples, truncatedCells: this.#truncated };
  }
}

/** The brackets of a row and its comma. */
const ROW_BYTES = 3;

export const jsonBytes = (value: unknown): number => new TextEncoder().encode(jsonText(value)).byteLength;

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

/** Ends without half a character. Of anything but a string, it is the start of the JSON text. */
function startOf(value: JsonValue, maxBytes: number): string {
  // Its quotes count too.
  let start = (typeof value === 'string' ? value : jsonText(value)).slice(0, Math.max(0, maxBytes - 2));
  while (start !== '' && jsonBytes(start) > maxBytes) start = start.slice(0, Math.floor(start.length * 0.9));
  return start.replace(/[\ud800-\udbff]$/, '');
}
