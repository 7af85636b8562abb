import type { FileKind } from './inspect-types.ts';

/** Keys that items have and rows of tables hardly. */
const ITEM_KEYS = ['inputs', 'answer', 'criteria', 'checker'];

/** Tells by its first bytes what a file is: an archive, JSON Lines of items, or a table. The server decides. */
export async function detectKind(file: File): Promise<FileKind> {
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
