/** Whether bytes begin with these characters. */
export function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  if (bytes.length < at + text.length) return false;
  for (let index = 0; index < text.length; index += 1) {
    if (bytes[at + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** First characters of files without a table, and of tables that are not read here. */
const SIGNATURES: readonly (readonly [text: string, kind: string, at?: number])[] = [
  ['PK\x03\x04', 'a ZIP archive'],
  ['PK\x05\x06', 'an empty ZIP archive'],
  ['\x1f\x8b', 'compressed twice'],
  ['\x28\xb5\x2f\xfd', 'compressed twice'],
  ['PARE', 'an encrypted Parquet file'],
  ['ARROW1', 'an Arrow file'],
  ['\xff\xff\xff\xff', 'an Arrow stream'],
  ['Obj\x01', 'an Avro file'],
  ['ORC', 'an ORC file'],
  ['SQLite format 3\x00', 'a SQLite database'],
  ['\x89HDF', 'an HDF5 file'],
  ['\x93NUMPY', 'a NumPy array'],
  ['%PDF-', 'a PDF document'],
  ['\x89PNG', 'a PNG image'],
  ['\xff\xd8\xff', 'a JPEG image'],
  ['GIF8', 'a GIF image'],
  ['RIFF', 'a RIFF file'],
  ['BZh', 'compressed with bzip2'],
  ['\xfd7zXZ\x00', 'compressed with xz'],
  ['7z\xbc\xaf\x27\x1c', 'a 7z archive'],
  ['\x04\x22\x4d\x18', 'compressed with LZ4'],
  ['Rar!', 'a RAR archive'],
  ['\xd0\xcf\x11\xe0', 'an old Office document'],
  ['\x7fELF', 'a program'],
  ['ustar', 'a tar archive', 257],
];

/** What a file is that cannot be read as a table, by its first bytes; null if nothing is known about it. */
export function unsupportedKind(head: Uint8Array): string | null {
  return SIGNATURES.find(([text, , at]) => startsWith(head, text, at))?.[1] ?? null;
}
