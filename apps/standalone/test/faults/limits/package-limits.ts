import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import { buildZip, type ZipEntrySpec } from '../../../../../packages/pkg-format/test/build-zip.ts';
import { ask, outcomeOf } from '../stored-datasets.ts';
import { count, LIMITS, type LimitCase, type Target } from './limit-case.ts';

type Entries = readonly ZipEntrySpec[];

const uploadArchive =
  (make: () => Uint8Array) =>
  async ({ service }: Target): Promise<string> => {
    const form = new FormData();
    form.append('file', new Blob([make() as Uint8Array<ArrayBuffer>]), 'a.zip');
    return outcomeOf(await ask(`${service.url}/datasets/upload`, { method: 'POST', body: form }));
  };
const uploadEntries = (make: () => Entries): ReturnType<typeof uploadArchive> =>
  uploadArchive(() => buildZip({ entries: [...make()] }));

/** A limit of which a package has some amount: just as much as it allows, and one more. */
function packageLimit(
  limit: string,
  most: number,
  unit: string,
  send: (amount: number) => ReturnType<typeof uploadArchive>,
  rejection = '400 package_limit',
): LimitCase {
  return {
    limit,
    within: { what: count(most, unit), outcome: '201', send: send(most) },
    beyond: { what: count(most + 1, unit), outcome: rejection, send: send(most + 1) },
  };
}

const section = (content: string): ZipEntrySpec => ({ name: 'sections/a.jsonl', content });
const line = (bytes: number): string => `{"a":"${'x'.repeat(bytes - 8)}"}`;
export const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`;

/** An item whose canonical text has this size once its file is embedded three times. */
function itemWithFiles(bytes: number): Entries {
  const content = randomBytes(9000);
  const entry = {
    data: content.toString('base64'),
    encoding: 'base64',
    mime_type: 'application/octet-stream',
    path: 'assets/x',
  };
  const rest = bytes - JSON.stringify({ assets: Array(3).fill(entry), id: '' }).length;
  const line = JSON.stringify({ assets: Array(3).fill('assets/x'), id: 'x'.repeat(rest) });
  return [section(`{}\n${line}`), { name: 'assets/x', content }];
}

/** An archive of this size: random bytes in an entry that no package uses fill it up. */
function archiveOf(bytes: number): Uint8Array {
  const build = (filling: number): Uint8Array =>
    buildZip({
      entries: [section('{}'), { name: 'filling', content: randomBytes(filling), method: 'stored' }],
    });
  return build(bytes - build(0).byteLength);
}

/** Files of every kind that is unpacked, of this total size; entries that no package uses are not unpacked. */
function unpackingTo(bytes: number): Entries {
  const small: Entries = [
    { name: 'manifest.json', content: '{"name":"n"}' },
    { name: 'meta.json', content: '{"description":"d"}' },
    { name: 'assets/x', content: randomBytes(1000) },
    { name: 'ignored', content: 'x'.repeat(1000) },
  ];
  const first = '{"assets":["assets/x"]}\n';
  // sections of less than a million bytes: what unpacks to no more than 1 MiB may do so at any ratio
  const rest = bytes - 12 - 19 - 1000 - first.length;
  const part = Math.floor(rest / 3);
  return [
    ...small,
    section(first + itemsOf(part)),
    { name: 'sections/b.jsonl', content: itemsOf(part) },
    { name: 'sections/c.jsonl', content: itemsOf(rest - 2 * part) },
  ];
}

/** Lines of this total size in bytes. */
const itemsOf = (bytes: number): string => '{"a":1}\n'.repeat(Math.floor(bytes / 8)).padEnd(bytes, ' ');

const RATIO = LIMITS.SVC_MAX_EXPANSION_RATIO;
const PACKED_BYTES = 7000;

/**
 * A section of `RATIO` times its compressed size and this many bytes more. A part of it stays uncompressed, in a stored
 * block (RFC 1951 section 3.2.4), which makes the compressed size exact.
 */
function expandedBy(more: number): Entries {
  const content = Buffer.from(itemsOf(PACKED_BYTES * RATIO + more));
  let stored = 0;
  for (let round = 0; round < 10; round++) {
    const head = Buffer.from([0, 0, 0, 0, 0]);
    head.writeUInt16LE(stored, 1);
    head.writeUInt16LE(0xffff - stored, 3);
    const rest = deflateRawSync(content.subarray(stored));
    const packed = Buffer.concat([head, content.subarray(0, stored), rest]);
    if (packed.byteLength === PACKED_BYTES) return [{ name: 'sections/a.jsonl', content, packed }];
    stored += PACKED_BYTES - packed.byteLength;
  }
  throw new Error(`no stored part makes it ${PACKED_BYTES} bytes`);
}

/** Every limit of an archive, its entries and its lines. */
export const PACKAGE_LIMITS: readonly LimitCase[] = [
  packageLimit(
    'upload, compressed: `SVC_MAX_UPLOAD_BYTES`',
    LIMITS.SVC_MAX_UPLOAD_BYTES,
    'bytes',
    (bytes) => uploadArchive(() => archiveOf(bytes)),
    '413 upload_too_large',
  ),
  packageLimit(
    'archive entries: `SVC_MAX_ARCHIVE_ENTRIES`',
    LIMITS.SVC_MAX_ARCHIVE_ENTRIES,
    'entries',
    (entries) =>
      uploadEntries(() => [
        section('{}'),
        ...Array.from({ length: entries - 1 }, (_, index) => ({ name: `x${index}`, content: '{}' })),
      ]),
  ),
  packageLimit(
    'uncompressed, total: `SVC_MAX_UNCOMPRESSED_BYTES`',
    LIMITS.SVC_MAX_UNCOMPRESSED_BYTES,
    'bytes',
    (bytes) => uploadEntries(() => unpackingTo(bytes)),
  ),
  {
    limit: 'expansion of an entry past its first 1 MiB: `SVC_MAX_EXPANSION_RATIO`',
    within: {
      what: `${count(RATIO * PACKED_BYTES, 'bytes')} of ${count(PACKED_BYTES, 'bytes')}`,
      outcome: '201',
      send: uploadEntries(() => expandedBy(0)),
    },
    beyond: {
      what: `${count(RATIO * PACKED_BYTES + 1, 'bytes')} of as many`,
      outcome: '400 package_limit',
      send: uploadEntries(() => expandedBy(1)),
    },
  },
  packageLimit('one line: `SVC_MAX_LINE_BYTES`', LIMITS.SVC_MAX_LINE_BYTES, 'bytes', (bytes) =>
    uploadEntries(() => [section(`{}\n${line(bytes)}\n{}`)]),
  ),
  packageLimit(
    'one item with the files it refers to: `SVC_MAX_LINE_BYTES`',
    LIMITS.SVC_MAX_LINE_BYTES,
    'bytes',
    (bytes) => uploadEntries(() => itemWithFiles(bytes)),
  ),
  packageLimit('one asset: `SVC_MAX_ASSET_BYTES`', LIMITS.SVC_MAX_ASSET_BYTES, 'bytes', (bytes) =>
    uploadEntries(() => [
      section('{"assets":["assets/x"]}'),
      { name: 'assets/x', content: randomBytes(bytes) },
    ]),
  ),
  packageLimit(
    'nesting in items: `SVC_MAX_JSON_DEPTH`',
    LIMITS.SVC_MAX_JSON_DEPTH,
    'levels',
    (depth) => uploadEntries(() => [section(nested(depth))]),
    '400 package_invalid_line',
  ),
  packageLimit(
    'nesting in `manifest.json`, which leaves 8 levels for the provenance of a dataset that is exported again: `SVC_MAX_JSON_DEPTH`',
    LIMITS.SVC_MAX_JSON_DEPTH - 8,
    'levels',
    (depth) => uploadEntries(() => [section('{}'), { name: 'manifest.json', content: nested(depth) }]),
    '400 package_invalid_json',
  ),
];
