import type { TextTablesOptions } from '@svc/tabular';
import type { Pacer } from './pacer.ts';

// Kinds of the hub's loader by the file-name suffix that asks for them.
const KINDS: Record<string, string> = {
  parquet: 'parquet geoparquet gpq',
  json: 'json jsonl ndjson',
  csv: 'csv tsv',
  text: 'txt',
  arrow: 'arrow',
  conll: 'conll conllu',
  webdataset: 'tar',
  xml: 'xml',
  hdf5: 'hdf5 h5',
  eval: 'eval',
  lance: 'lance',
  tsfile: 'tsfile',
  zip: 'zip',
};
const MEDIA_KINDS: Record<string, string> = {
  imagefolder:
    'blp bmp dib bufr cur pcx dcx dds ps eps fit fits fli flc ftc ftu gbr gif grib hdf png apng jp2 j2k jpc jpf jpx ' +
    'j2c icns ico im iim tif tiff jfif jpe jpg jpeg msp pcd pxr pbm pgm ppm pnm psd bw rgb rgba sgi ras tga icb ' +
    'vda vst webp wmf emf xbm xpm',
  audiofolder:
    'aiff au avr caf flac htk svx mat4 mat5 mpc2k ogg paf pvf raw rf64 sd2 sds ircam voc w64 wav nist wavex wve xi ' +
    'mp3 opus m4a aac 3gp',
  videofolder: 'mkv mp4 avi mpeg mpg mov webm m4v',
  pdffolder: 'pdf',
  niftifolder: 'nii',
  meshfolder: 'glb gltf ply stl obj',
};
const KIND_OF_SUFFIX = new Map<string, string>();
for (const [kind, suffixes] of Object.entries(KINDS)) {
  for (const suffix of suffixes.split(' ')) KIND_OF_SUFFIX.set(suffix, kind);
}
// Media files may be named in capitals, others may not.
for (const [kind, suffixes] of Object.entries(MEDIA_KINDS)) {
  for (const suffix of suffixes.split(' ')) {
    KIND_OF_SUFFIX.set(suffix, kind);
    KIND_OF_SUFFIX.set(suffix.toUpperCase(), kind);
  }
}

/** The formats that are read here. `json` is JSON Lines, arrays and single objects. */
export type DataFormat = 'parquet' | TextTablesOptions['format'];

const READ_HERE = new Set<string>(['parquet', 'json', 'csv', 'text'] satisfies DataFormat[]);
/** With images, audio and the like, these describe the media and do not count as the format. */
const MEDIA_METADATA = new Set(['metadata.csv', 'metadata.jsonl', 'metadata.parquet']);
const TIE_BREAKERS = ['parquet', 'lance', 'arrow', 'jsonl', 'json', 'csv'];
/** Whether the hub's loader would take the file for data at all: some suffix of its name is known. */
export function isDataFile(path: string): boolean {
  return suffixes(path).some((suffix) => KIND_OF_SUFFIX.has(suffix));
}

/** Whether a file stays when the others of its split are of the given kind. */
export function isOfKind(path: string, kind: string): boolean {
  return (
    suffixes(path).some((suffix) => KIND_OF_SUFFIX.get(suffix) === kind) ||
    (kind in MEDIA_KINDS && MEDIA_METADATA.has(baseName(path)))
  );
}

/**
 * The kind of a split's files, by the most frequent suffix. Every suffix of a name counts, so `a.csv.gz` and
 * `a.csv.bak` are csv. Ties go to parquet, lance, arrow, jsonl, json, csv, then to the last in the alphabet. Null if
 * none is known.
 */
export async function inferKind(paths: readonly string[], pace: Pacer): Promise<string | null> {
  const counts = new Map<string, { suffix: string; metadata: boolean; count: number }>();
  await pace(paths, (path) => {
    const metadata = MEDIA_METADATA.has(baseName(path));
    for (const suffix of suffixes(path)) {
      const kind = KIND_OF_SUFFIX.get(suffix);
      if (kind === undefined) continue;
      const lower = suffix.toLowerCase();
      const key = `${metadata} ${lower}`;
      const entry = counts.get(key) ?? { suffix: lower, metadata, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    }
  });
  const [first] = [...counts.values()].sort(
    (a, b) =>
      Number(a.metadata) - Number(b.metadata) ||
      b.count - a.count ||
      tieRank(a.suffix) - tieRank(b.suffix) ||
      (a.suffix < b.suffix ? 1 : -1),
  );
  return first === undefined ? null : (KIND_OF_SUFFIX.get(first.suffix) ?? null);
}

/** The name of a file without its folders. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The suffixes of a file's name, first to last, without their dots. */
const suffixes = (path: string): string[] => baseName(path).split('.').slice(1);

/** The format in which files of a kind are read here; null if they are not. */
export function formatOfKind(kind: string): DataFormat | null {
  return READ_HERE.has(kind) ? (kind as DataFormat) : null;
}

function tieRank(suffix: string): number {
  const rank = TIE_BREAKERS.indexOf(suffix);
  return rank === -1 ? TIE_BREAKERS.length : rank;
}
