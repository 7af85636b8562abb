import { embeddedEntry, isFileCell, jsonText } from '@svc/jsonl-v23/internal';
import { getMember, isJsonObject, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';

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

/** A cell beyond this is shortened; images are not, as long as the whole answer has room. */
const MAX_CELL_BYTES = 16 * 1024;

interface Cell {
  readonly column: string;
  readonly isFile: boolean;
  value: JsonValue;
  /** Size of the value as JSON text. */
  bytes: number;
  /** Where it is shortened. */
  truncated?: TruncatedCell;
}

/**
 * Collects rows whose JSON text, with that of the list of what was shortened, takes at most `maxBytes`; the brackets of
 * the two lists are not counted. What fits is shown whole. Else the cells that come last are shortened, and only where
 * even empty cells do not fit, rows are left out at the end.
 */
export class SampleCollector {
  #maxBytes: number;
  readonly #rows: Cell[][] = [];
  #usedBytes = 0;
  /** What the rows take at least, however they are shortened. */
  #leastBytes = 0;
  #truncated = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Whether there is no room even for what is there: `end` leaves the last row out, and would any further one. */
  get isFull(): boolean {
    return this.#leastBytes - 1 > this.#maxBytes;
  }

  /** Takes a row; nothing of a cell is kept for which there is no room any more. */
  add(row: JsonObject): void {
    const cells: Cell[] = [];
    const index = this.#rows.push(cells) - 1;
    this.#usedBytes += index === 0 ? 2 : 3;
    this.#leastBytes += index === 0 ? 2 : 3;
    for (const [column, value] of Object.entries(row)) {
      const shown = showFiles(value);
      const cell: Cell = { column, isFile: shown !== value, value: shown, bytes: jsonBytes(shown) };
      const room = Math.max(0, this.#maxBytes - this.#usedBytes);
      const bytes = cellBytes(cell, cells.length);
      this.#usedBytes += bytes;
      this.#leastBytes += bytes - Math.max(0, cell.bytes - LEAST_ENTRY_BYTES);
      cells.push(cell);
      if (cell.isFile) {
        if (cell.bytes > room) this.#show(cell, index, withoutData(shown));
      } else if (cell.bytes > MAX_CELL_BYTES) {
        this.#show(cell, index, startOf(shown, Math.min(MAX_CELL_BYTES, room)), true);
      } else if (cell.bytes > room) this.#show(cell, index, startOf(shown, room));
    }
  }

  /** The rows, made to fit. @param reservedBytes that something else takes of the room */
  end(reservedBytes = 0): PreviewSamples {
    this.#maxBytes -= reservedBytes;
    // of images, first their data, and what describes them only where nothing else is left
    for (const canCutFiles of [false, true]) {
      for (const [row, cells] of [...this.#rows.entries()].reverse()) {
        for (const cell of cells.toReversed()) {
          const excess = this.#excess();
          if (excess <= 0) break;
          if (cell.truncated === undefined && cell.bytes <= LEAST_ENTRY_BYTES) continue;
          const most = Math.max(0, cell.bytes - excess - entryBytes(cell, row));
          const isCut = canCutFiles || !cell.isFile;
          this.#show(cell, row, isCut ? startOf(cell.value, most) : withoutData(cell.value));
        }
      }
    }
    while (this.#excess() > 0 && this.#rows.length > 0) this.#dropLast();
    return {
      samples: this.#rows.map((cells) => {
        const sample: JsonObject = {};
        for (const { column, value } of cells) setMember(sample, column, value);
        return sample;
      }),
      truncatedCells: this.#rows.flatMap((cells) =>
        cells.flatMap(({ truncated }) => (truncated === undefined ? [] : [truncated])),
      ),
    };
  }

  /** Bytes that are too many; each entry was counted with a comma, and the last has none. */
  #excess(): number {
    return this.#usedBytes - (this.#truncated > 0 ? 1 : 0) - this.#maxBytes;
  }

  /** Shows a cell as this, where that takes less room with its entry among the truncated cells, or must be. */
  #show(cell: Cell, row: number, value: JsonValue, must = false): void {
    const bytes = jsonBytes(value);
    const more = bytes + entryBytes(cell, row) - cell.bytes;
    if (more >= 0 && !must) return;
    if (cell.truncated === undefined) {
      cell.truncated = { row, column: cell.column, bytes: cell.bytes };
      this.#truncated += 1;
    }
    this.#usedBytes += more;
    cell.value = value;
    cell.bytes = bytes;
  }

  #dropLast(): void {
    const cells = this.#rows.pop() ?? [];
    this.#usedBytes -= this.#rows.length === 0 ? 2 : 3;
    for (const [index, cell] of cells.entries()) {
      this.#usedBytes -= cellBytes(cell, index);
      if (cell.truncated === undefined) continue;
      this.#usedBytes -= jsonBytes(cell.truncated) + 1;
      this.#truncated -= 1;
    }
  }
}

/** Bytes of a cell with its name and punctuation. */
const cellBytes = ({ column, bytes }: Cell, index: number): number =>
  jsonBytes(column) + (index === 0 ? 1 : 2) + bytes;

/** What naming a cell as shortened would add. */
const entryBytes = ({ column, bytes, truncated }: Cell, row: number): number =>
  truncated === undefined ? jsonBytes({ row, column, bytes }) + 1 : 0;

/** A cell that is not longer takes no less room shortened, because its entry is longer. */
const LEAST_ENTRY_BYTES = '{"row":0,"column":"","bytes":0},'.length;

/** Size of a value as JSON text. */
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

/**
 * A start that fits, without half a character at its end. A shortened string stays a string; anything else is
 * shown as the start of its JSON text.
 */
function startOf(value: JsonValue, maxBytes: number): string {
  // its quotes count too
  const most = Math.max(0, maxBytes - 2);
  let start = (typeof value === 'string' ? value : jsonText(value)).slice(0, most);
  while (jsonBytes(start) > maxBytes && start !== '') {
    start = start.slice(0, Math.floor(start.length * 0.9));
  }
  return start.replace(/[\ud800-\udbff]$/, '');
}
