/**
 * Runs vectors of the hub's own loader through the built hub client.
 *
 * `node tools/run-hub-vectors.ts <folder>`: the folder holds split-vectors.json, data-files-vectors.json,
 * features-vectors.json, arrow-dtype-vectors.json, inference-vectors.json, viewer-cell-vectors.json, parquet-samples.json and
 * ratelimit-vectors.json; files that are not there are passed over. Prints for each file how many cases passed, how many differ
 * by design (each with its reason) and which failed; ends with 1 where any failed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileCell, compileRow } from '../packages/hub-client/dist/cell.js';
import { chooseSubset, resolveDataFiles } from '../packages/hub-client/dist/data-files.js';
import {
  dtypeOf,
  featureFromJson,
  featuresFromJson,
  featuresFromYaml,
} from '../packages/hub-client/dist/features.js';
import { createInference } from '../packages/hub-client/dist/infer-schema.js';
import { openParquet, readParquet } from '../packages/hub-client/dist/read-parquet.js';
import { readRows } from '../packages/hub-client/dist/read-rows.js';
import {
  DEFAULT_RETRY_POLICY,
  isRetryableStatus,
  parseRateLimit,
  parseRetryAfter,
  planRetry,
} from '../packages/hub-client/dist/retry.js';
import { parseSplit, resolveSplit } from '../packages/hub-client/dist/split-slice.js';
import { canonicalJson, parseJson } from '../packages/jsonl-v23/dist/json/index.js';

// Vectors are data of several shapes; what does not have the expected one fails its case.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Vector = any;

/** Compares a case; gives null where it agrees, else what is different. */
type Check = (vector: Vector) => string | null | Promise<string | null>;

interface Suite {
  file: string;
  cases(content: Vector): Array<[name: string, vector: Vector]>;
  check: Check;
  /** Cases that differ by design, with the reason. A reason for a case that agrees is a failure too. */
  byDesign?: Record<string, string>;
}

const EMPTY_SELECTION =
  'a slice that selects nothing of a split that has rows is an error, also a reversed one';
const EMPTY_SPLIT = 'a split without rows is no error: it has no rows';
const READ_ONCE = 'a file that two patterns find is read once';
const OTHER_KIND = 'files of this kind are not read: the Parquet copy is, where the hub has one';
const UNITED = 'columns of all files are united, missing ones are null';
const PROMOTED = 'types are promoted over all rows and do not depend on where a file ends';
const NO_ROWS = 'a file without rows has no rows';
const MEDIA = 'media cells keep bytes and path; addresses of the viewer are not needed';

const suites: Suite[] = [
  {
    file: 'split-vectors.json',
    cases: (content) => content.map((vector: Vector) => [splitName(vector), vector]),
    check: checkSplit,
    byDesign: {
      'train[-80%:10%] of {"train":100,"test":50}': EMPTY_SELECTION,
      'train[5:2] of {"train":10,"test":4}': EMPTY_SELECTION,
      'train[-2:3] of {"train":10,"test":4}': EMPTY_SELECTION,
      'train[30%:4] of {"train":10,"test":4}': EMPTY_SELECTION,
      'train[:10%] of {"train":0}': EMPTY_SPLIT,
      'train of {"train":0}': EMPTY_SPLIT,
      'train[:10] of {"train":0}': EMPTY_SPLIT,
      'train[-1:] of {"train":0}': EMPTY_SPLIT,
    },
  },
  {
    file: 'data-files-vectors.json',
    cases: (content) => content.map((vector: Vector) => [vector.name, vector]),
    check: checkDataFiles,
    byDesign: {
      'file double match in filename patterns': READ_ONCE,
      'nested dir my-train/train-1': READ_ONCE,
      'upstream: data/image.jpg, metadata.jsonl': OTHER_KIND,
      'upstream: data/image.jpg, metadata.csv': OTHER_KIND,
      imagefolder: OTHER_KIND,
      'imagefolder uppercase ext': OTHER_KIND,
      'imagefolder + metadata': OTHER_KIND,
      'images listed with csv not metadata': OTHER_KIND,
      audiofolder: OTHER_KIND,
      'eval logs': OTHER_KIND,
      'csv.zst / xz / bz2':
        'of compressions gzip and zstd are read: the Parquet copy is, where the hub has one',
      'yaml data_dir + data_files': 'data_files are looked for inside data_dir, as the hub documents it',
      'yaml two configs with different formats': 'each subset has its own format',
      'dataset_info with config_name, no configs':
        'the only subset is the default, whatever dataset_info calls it',
      'configs data_files with leading ./': 'the path is that of the listing, without "./"',
    },
  },
  {
    file: 'features-vectors.json',
    cases: featureCases,
    check: checkFeatures,
    byDesign: {
      'legacy_yaml: nope': 'an unknown type is kept as an opaque one, no reason to refuse the dataset',
    },
  },
  {
    file: 'arrow-dtype-vectors.json',
    cases: (content) => content.cases.map((vector: Vector) => [vector.arrow, vector]),
    check: checkArrow,
    byDesign: {
      'fixed_size_binary[16]': 'has a dtype of its own, and cells in base64',
      'map<string, int64>': 'has a dtype of its own, and cells that are objects',
      month_day_nano_interval: 'is known as what Parquet stores it as: twelve bytes',
    },
  },
  {
    file: 'inference-vectors.json',
    cases: (content) => content.cases.map((vector: Vector) => [vector.name, vector]),
    check: checkInference,
    byDesign: {
      'jsonl: second file has a new column': UNITED,
      'jsonl: splits with different columns': UNITED,
      'csv: files with different columns': UNITED,
      'jsonl: first file all null, second string': PROMOTED,
      'jsonl: first file empty lists, second filled': PROMOTED,
      'jsonl: first file int, second string': PROMOTED,
      'jsonl: first file string, second int': PROMOTED,
      'jsonl: first file int, second float': PROMOTED,
      'csv: int file then string file': PROMOTED,
      'jsonl: empty file': NO_ROWS,
      'csv: header only': NO_ROWS,
      'jsonl: above int64': 'numbers beyond 64 bits keep their digits',
    },
  },
  {
    file: 'viewer-cell-vectors.json',
    cases: (content) =>
      content.cells.map((vector: Vector, index: number) => [
        `${index} ${vector.feature._type ?? ''} ${vector.feature.dtype ?? ''}`.trim(),
        vector,
      ]),
    check: checkCell,
    byDesign: {
      '12 Value duration[ms]': 'durations are seconds',
      '13 Value decimal128(10, 2)': 'decimals are numbers with all their digits',
      '15 ClassLabel': 'class labels are their names',
      '28 Image': MEDIA,
      '29 List': MEDIA,
      '30 Audio': MEDIA,
      '31 Video': MEDIA,
      '32 Pdf': MEDIA,
      '34 List': 'the viewer cuts cells; cells of files are whole',
    },
  },
  {
    file: 'parquet-samples.json',
    cases: (content) => content.samples.map((vector: Vector) => [vector.name, vector]),
    check: checkParquet,
  },
  {
    file: 'ratelimit-vectors.json',
    cases: (content) => [
      ...content.parse.map((vector: Vector) => [
        `parse ${JSON.stringify(vector.headers)}`,
        { parse: vector },
      ]),
      ...content.retry_after.map((vector: Vector) => [`Retry-After ${vector.value}`, { retryAfter: vector }]),
      ...content.wait_on_429.map((vector: Vector) => [
        `429 ${JSON.stringify(vector.headers)}`,
        { wait: vector },
      ]),
      ['statuses', { statuses: content.retryable_statuses }],
    ],
    check: checkRateLimit,
  },
];

const folder = process.argv[2];
if (folder === undefined) {
  process.stderr.write('usage: node tools/run-hub-vectors.ts <folder>\n');
  process.exitCode = 2;
} else {
  let failures = 0;
  for (const suite of suites) failures += await runSuite(folder, suite);
  process.exitCode = failures === 0 ? 0 : 1;
}

async function runSuite(directory: string, { file, cases, check, byDesign = {} }: Suite): Promise<number> {
  const path = join(directory, file);
  if (!existsSync(path)) {
    process.stdout.write(`${file}: not there\n`);
    return 0;
  }
  // Long numbers keep their digits this way.
  const listed = cases(parseJson(readFileSync(path, 'utf8')));
  const different: string[] = [];
  const failed: string[] = [];
  const unused = new Set(Object.keys(byDesign));
  for (const [name, vector] of listed) {
    let problem: string | null;
    try {
      problem = await check(vector);
    } catch (error) {
      problem = `threw ${String(error)}`;
    }
    const reason = byDesign[name];
    unused.delete(name);
    if (reason !== undefined && problem === null) failed.push(`${name}: agrees, so it needs no reason`);
    else if (reason !== undefined) different.push(`${name}: ${reason}`);
    else if (problem !== null) failed.push(`${name}: ${problem}`);
  }
  for (const name of unused) failed.push(`${name}: has a reason but is no case`);
  const passed = listed.length - different.length - failed.length;
  process.stdout.write(
    `${file}: ${passed} passed, ${different.length} differ by design, ${failed.length} failed\n`,
  );
  for (const line of different) process.stdout.write(`  by design  ${line}\n`);
  for (const line of failed) process.stdout.write(`  FAILED     ${line}\n`);
  return failed.length;
}

/** Null where two texts are the same. */
function compare(expected: string, actual: string): string | null {
  return expected === actual ? null : `expected ${expected.slice(0, 300)}, got ${actual.slice(0, 300)}`;
}

/** An expected error is any error: the wording is ours. */
function attempt<T>(action: () => T): T | Error {
  try {
    return action();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function splitName({ instruction, splits }: Vector): string {
  return `${instruction} of ${JSON.stringify(splits)}`;
}

function checkSplit({ instruction, splits, expect, load_dataset: loaded }: Vector): string | null {
  const sizes = Object.entries(splits).map(([name, numRows]) => ({ name, numRows: Number(numRows) }));
  const ranges = attempt(() => resolveSplit(parseSplit(instruction), sizes));
  if (loaded.error)
    return ranges instanceof Error ? null : `expected an error, got ${JSON.stringify(ranges)}`;
  if (ranges instanceof Error) return `unexpected error: ${ranges.message}`;
  const rows = ranges.reduce((sum, { from, to }) => sum + Math.max(0, to! - from), 0);
  return (
    compare(String(loaded.num_rows), String(rows)) ??
    (expect.ranges === undefined ? null : compare(JSON.stringify(expect.ranges), JSON.stringify(ranges)))
  );
}

function checkDataFiles({ files, readme_yaml: yaml, expect }: Vector): string | null {
  const layout = attempt(() =>
    resolveDataFiles(
      files.map((path: string) => ({ path, size: 1 })),
      yaml === undefined ? null : `---\n${yaml}\n---\n`,
    ),
  );
  const chosen = layout instanceof Error ? layout : attempt(() => chooseSubset(layout));
  if (expect.error) return chosen instanceof Error ? null : 'expected an error';
  if (layout instanceof Error) return `unexpected error: ${layout.message}`;
  const problem = layout.subsets.find((subset) => subset.problem !== null)?.problem;
  if (problem) return `unexpected error: ${problem.message}`;
  const configs = Object.fromEntries(
    layout.subsets.map(({ name, splits }) => [
      name,
      Object.fromEntries(splits.map((split) => [split.name, split.files.map(({ path }) => path)])),
    ]),
  );
  const kinds = [...new Set(layout.subsets.map(({ kind }) => kind))].join(', ');
  return (
    compare(JSON.stringify(expect.configs), JSON.stringify(configs)) ??
    compare(expect.module, kinds) ??
    compare(
      expect.chosen_config ?? (expect.chosen_config_error ? 'an error' : 'any'),
      chosen instanceof Error ? 'an error' : chosen.name,
    )
  );
}

function featureCases(content: Vector): Array<[string, Vector]> {
  return [
    ...Object.entries<Vector>(content.cases),
    ...content.legacy_yaml.map((vector: Vector, index: number) => [
      `legacy_yaml: ${vector.error?.includes('Nope') ? 'nope' : index}`,
      { yaml_list: vector.yaml_list, json: vector.json, error: vector.error },
    ]),
    ...content.legacy_json
      .filter((vector: Vector) => vector.json_now !== undefined)
      .map((vector: Vector, index: number) => [
        `legacy_json: ${index}`,
        { old: vector.json_in, json: vector.json_now },
      ]),
  ];
}

function checkFeatures({
  json,
  yaml_list: yaml,
  old,
  parquet_kv_huggingface: entry,
  error,
}: Vector): string | null {
  const fromYaml = attempt(() => (yaml === undefined ? null : featuresFromYaml(yaml)));
  if (error !== undefined) return fromYaml instanceof Error ? null : 'expected an error';
  const expected = JSON.stringify(featuresFromJson(json));
  const others = [
    yaml === undefined ? undefined : fromYaml,
    old === undefined ? undefined : featuresFromJson(old),
    entry === undefined ? undefined : featuresFromJson(entry.info.features),
  ].filter((features) => features !== undefined);
  return (
    others
      .map((features) => compare(expected, JSON.stringify(features)))
      .find((problem) => problem !== null) ?? null
  );
}

function checkArrow({ arrow, feature, error }: Vector): string | null {
  if (error !== undefined) return 'the loader refuses this type';
  const names: Array<[RegExp, string]> = [
    [/\bhalffloat\b/g, 'float16'],
    [/\bfloat\b/g, 'float32'],
    [/\bdouble\b/g, 'float64'],
    [/^date32\[day\]$/, 'date32'],
    [/^date64\[ms\]$/, 'date64'],
    [/^dictionary<values=(\w+),.*$/, '$1'],
    [/fixed_size_list</g, 'list<'],
    [/\bitem: /g, ''],
  ];
  const dtype = names.reduce((text, [pattern, name]) => text.replace(pattern, name), String(arrow));
  return compare(dtype, dtypeOf(featureFromJson(feature)));
}

async function checkInference({ files, split, expect }: Vector): Promise<string | null> {
  const paths = Object.keys(files);
  const layout = resolveDataFiles(
    paths.map((path) => ({ path, size: 1 })),
    null,
  );
  const subset = attempt(() => chooseSubset(layout));
  const typed =
    subset instanceof Error ? subset : await readSubset(subset, files).catch((error: Error) => error);
  if (expect.error) return typed instanceof Error ? null : `expected an error, got ${JSON.stringify(typed)}`;
  if (typed instanceof Error) return `unexpected error: ${typed.message}`;
  const wanted = split === null ? expect.splits : { [split]: expect };
  for (const [name, { features, rows }] of Object.entries<Vector>(wanted)) {
    const dtypes = featuresFromJson(features).map((column) => `${column.name}: ${dtypeOf(column.feature)}`);
    const problem =
      // The loader's own name for CSV texts depends on the version of pandas.
      compare(dtypes.join('; ').replaceAll('large_string', 'string'), typed.dtypes) ??
      compare(rows.map(canonicalJson).join('\n'), typed.rows[name]!.join('\n'));
    if (problem !== null) return problem;
  }
  return null;
}

async function readSubset(
  { format, params, splits }: ReturnType<typeof chooseSubset>,
  files: Vector,
): Promise<{ dtypes: string; rows: Record<string, string[]> }> {
  if (format === 'parquet' || format === null) throw new Error(`format ${format}`);
  const builder = createInference(format);
  const read = await Promise.all(
    splits.map(async (split) => {
      const rows = [];
      for (const { path } of split.files) {
        const content = files[path];
        const bytes =
          typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.$base64, 'base64');
        for await (const row of readRows(oneChunk(bytes), format, params, { file: path })) rows.push(row);
      }
      return { name: split.name, rows };
    }),
  );
  for (const row of read.flatMap(({ rows }) => rows)) builder.add(row);
  const { features, toRow } = builder.finish();
  return {
    dtypes: features.map(({ name, feature }) => `${name}: ${dtypeOf(feature)}`).join('; '),
    rows: Object.fromEntries(
      read.map(({ name, rows }) => [name, rows.map(({ row }) => canonicalJson(toRow(row)))]),
    ),
  };
}

async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Cells as the Parquet reader hands them out, for the cells that the viewer shows. */
function checkCell({ feature, cell, python, truncated }: Vector): string | null {
  if (feature === 'any') return compare('null', canonicalJson(compileCell(featureFromJson({}))(null)));
  const parsed = featureFromJson(feature);
  const dtype = dtypeOf(parsed);
  const special: Record<string, unknown> = {
    'time64[us]': 3_723_000_000n,
    'duration[ms]': 86_402_000n,
    'decimal128(10, 2)': 150,
    binary: new Uint8Array([0, 255]),
    'timestamp[us, tz=UTC]': '2020-01-01T00:00:00',
    'timestamp[ns, tz=US/Pacific]': '2020-01-01T08:00:00',
    image: { bytes: new Uint8Array([1]), path: null },
    'list<image>': [{ bytes: new Uint8Array([1]), path: null }, null],
    audio: { bytes: new Uint8Array([1]), path: null },
    video: { bytes: null, path: 'v.mp4' },
    pdf: { bytes: new Uint8Array([1]), path: null },
    json: JSON.stringify(cell),
  };
  const raw =
    python !== undefined ? Number.NaN : truncated ? [38.66, 38.22, 37.34] : (special[dtype] ?? toRaw(cell));
  return compare(canonicalJson(cell), canonicalJson(compileCell(parsed)(raw)));
}

/** Whole numbers as 64-bit integers. */
function toRaw(cell: Vector): unknown {
  if (Number.isSafeInteger(cell)) return BigInt(cell);
  if (Array.isArray(cell)) return cell.map(toRaw);
  if (typeof cell !== 'object' || cell === null) return cell;
  return Object.fromEntries(Object.entries(cell).map(([key, value]) => [key, toRaw(value)]));
}

async function checkParquet(vector: Vector): Promise<string | null> {
  const bytes = new Uint8Array(Buffer.from(vector.base64, 'base64'));
  const file = await openParquet({
    path: `${vector.name}.parquet`,
    byteLength: bytes.length,
    readRange: (start, end) => Promise.resolve(bytes.slice(start, end)),
    stream: () => oneChunk(bytes) as AsyncGenerator<Uint8Array, never>,
  });
  const { features, rowCount } = file;
  if (vector.features !== null) {
    const expected = new Map(
      featuresFromJson(vector.features).map(({ name, feature }) => [name, dtypeOf(feature)]),
    );
    for (const { name, feature } of features) {
      const problem = compare(expected.get(name) ?? 'no column', dtypeOf(feature));
      if (problem !== null) return `${name}: ${problem}`;
    }
  }
  const toRow = compileRow(features);
  const rows: string[] = [];
  const columns = features.map(({ name }) => name);
  for await (const batch of readParquet(file, { columns, from: 0, to: rowCount })) {
    for (let index = 0; index < batch.rowCount; index += 1) {
      const cells = [...batch.columns].map(([name, values]): [string, unknown] => [
        name,
        (values as ArrayLike<unknown>)[index],
      ]);
      rows.push(canonicalJson(toRow(Object.fromEntries(cells))));
    }
  }
  const expected = vector.rows.map((row: Vector) => canonicalJson(ours(row, features)));
  return compare(expected.join('\n'), rows.join('\n'));
}

/** A row as the vectors have it, in our forms: labels by name, bytes as base64, UTC as Z, decimals as numbers. */
function ours(row: Vector, features: ReturnType<typeof featuresFromJson>): Vector {
  return Object.fromEntries(
    features.map(({ name, feature }) => {
      const value = row[name];
      if (value === null || value === undefined) return [name, null];
      if (feature.kind === 'class_label') return [name, feature.names[value] ?? null];
      if (value.$base64 !== undefined) return [name, value.$base64];
      if (feature.kind === 'media') return [name, { bytes: value.bytes?.$base64 ?? null, path: value.path }];
      if (/^decimal/.test(dtypeOf(feature))) return [name, parseJson(value)];
      return [name, typeof value === 'string' ? value.replace(/\+00:00$/, 'Z') : value];
    }),
  );
}

function checkRateLimit({ parse, retryAfter, wait, statuses }: Vector): string | null {
  const header = (headers: Record<string, string>) => (name: string) =>
    Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null;
  if (parse !== undefined) {
    const found = parseRateLimit(header(parse.headers));
    const { expect } = parse;
    const expected = expect && [
      expect.resource,
      expect.remaining,
      expect.reset_s,
      expect.limit,
      expect.window_s,
    ];
    const actual = found && [
      found.resource,
      found.remaining,
      found.resetSeconds,
      found.limit,
      found.windowSeconds,
    ];
    return compare(JSON.stringify(expected), JSON.stringify(actual));
  }
  if (retryAfter !== undefined) {
    return compare(String(retryAfter.seconds), String(parseRetryAfter(retryAfter.value, 0)));
  }
  if (wait !== undefined) {
    const plan = planRetry(
      { failures: 0, status: 429, header: header(wait.headers), nowMs: 0, remainingMs: 1e9, random: 0.5 },
      DEFAULT_RETRY_POLICY,
    );
    const shown = plan.retry && plan.reason !== 'backoff' ? String(plan.delayMs / 1000) : 'backoff';
    return compare(String(wait.wait_s), shown);
  }
  const all = Array.from({ length: 500 }, (_, index) => index + 100);
  return compare(JSON.stringify(statuses), JSON.stringify(all.filter(isRetryableStatus)));
}
