export function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  return String.fromCharCode(...bytes.subarray(at, at + text.length)) === text;
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

export interface NoTable {
  /** The end of a sentence, without its full stop. */
  readonly reason: string;
  /** What to do, as its continuation. */
  readonly advice?: string;
}

/** Texts that are no tables, whatever their name: first characters, without white space before them. */
const TEXT_KINDS: readonly (readonly [start: RegExp, found: NoTable])[] = [
  [
    /^version https?:\/\/(?:git-lfs\.github\.com|hawser\.github\.com|git-media\.io)\//,
    {
      reason: 'it is a Git LFS pointer',
      advice: ', which only stands for the file; fetch the file itself, such as with "git lfs pull"',
    },
  ],
  [
    /^(?:\.\.\/)*(?:\.git)?\/annex\/objects\//,
    { reason: 'it is a git-annex pointer', advice: '; fetch the file itself, such as with "git annex get"' },
  ],
  [
    /^<(?:!doctype\s+html|html|head|body)\b/i,
    {
      reason: 'it is an HTML page',
      advice: ', such as one of an error or a login; download the file itself',
    },
  ],
];
const OTHER_KINDS: typeof TEXT_KINDS = [
  [/^<\?xml\b/i, { reason: 'it is an XML document', advice: '; write its rows as CSV or JSON' }],
  [
    /^\[?\s*\{\s*(?:[bru]?'(?:[^'\\]|\\.){0,1000}'|-?\d{1,20})\s*:/,
    {
      reason: 'it holds Python dictionaries, which are not JSON',
      advice: '; write them with json.dumps, or with orient="records" and lines=True of pandas',
    },
  ],
];

/** What a text is that is no table, by its beginning; null if nothing is known about it. @param isText whether its name says that it is plain text */
export function knownText(text: string, isText: boolean): NoTable | null {
  const starts = [text.slice(0, MAX_START_LENGTH), afterComments(text)];
  const kinds = isText ? TEXT_KINDS : [...TEXT_KINDS, ...OTHER_KINDS];
  return kinds.find(([pattern]) => starts.some((start) => pattern.test(start)))?.[1] ?? null;
}

const MAX_START_LENGTH = 4096;

function afterComments(text: string): string {
  for (let at = 0; ; ) {
    while (/\s/.test(text.charAt(at))) at += 1;
    const close = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?xml', at) ? '?>' : null;
    const end = close === null ? -1 : text.indexOf(close, at);
    if (close === null || end === -1) return text.slice(at, at + MAX_START_LENGTH);
    at = end + close.length;
  }
}
