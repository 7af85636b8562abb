/** The code of each thread of `row-encoder.ts`. */
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '@svc/concurrency';
import { JsonlError } from '@svc/jsonl-v23';
import { readLinkedFiles } from '../../assets/linked-files-column.ts';
import { RowFields } from '../../database/copy-format.ts';
import {
  addItem,
  emptyProfile,
  isPlainText,
  type PartProfile,
  PROFILE_ITEMS,
  type Profile,
} from '../../hub-files/profile.ts';
import { createBatchEncoder } from './encode-batch.ts';
import { BufferPool, freeBuffer, type RowTarget } from './encode-rows.ts';
import { buffers, type EncodeOutcome, type EncodeTask, type EncodeWork } from './encode-task.ts';
import {
  distinctFiles,
  type EncodedRows,
  type FilledLines,
  type FilledRows,
  type NeedsFiles,
} from './encoded-rows.ts';
import { toFailure } from './row-failures.ts';

const pool = new BufferPool();
const encoder = createBatchEncoder(pool);

serveTasks(parentPort, ({ work, target, spare }: EncodeTask) => {
  for (const buffer of spare) pool.release(buffer);
  try {
    const encoded = encode(work, target);
    const outcome = 'rows' in encoded ? { ...encoded, profiles: profilesOf(encoded.rows, target) } : encoded;
    reuse(work, outcome);
    return { message: { kind: 'outcome', outcome }, transfer: buffersOf(outcome) };
  } catch (error) {
    if (!(error instanceof JsonlError)) return { message: { kind: 'fault', error } };
    return { message: { kind: 'failed', failure: toFailure(error) } };
  }
});

function encode(work: EncodeWork, target: RowTarget): EncodeOutcome {
  switch (work.kind) {
    case 'lines':
      return encoder.encodeLines(work.batch, target, work.options);
    case 'filled':
      return withoutFiles(encoder.encodeFilled(work.lines, target, work.options), work.lines);
  }
}

/** The columns of {@link COPY_ITEMS} that profiles depend on, and the last one. */
const [ORDINAL, PAYLOAD, ANSWER, ASSETS, LINKED_FILES, LAST] = [1, 5, 6, 8, 9, 11] as const;

const META = Buffer.from('"meta":');
/** As any item that asks with a text and has no metadata. */
const PLAIN = '{"inputs":{"prompt":""}}';

/** What the items of rows are, by blocks of their part: nobody has to read them again to know it. */
function profilesOf(encoded: Uint8Array, { partId }: RowTarget): readonly PartProfile[] {
  const rows = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  const profiles: { partId: string; first: number; items: number; profile: Profile }[] = [];
  const row = new RowFields();
  for (let at = 0; at < rows.length; [, at] = row.range(LAST)) {
    row.read(rows, at);
    const ordinal = row.int32(ORDINAL);
    if (profiles.length === 0 || ordinal % PROFILE_ITEMS === 0) {
      profiles.push({ partId, first: ordinal, items: 0, profile: emptyProfile() });
    }
    const block = profiles.at(-1) as (typeof profiles)[number];
    block.items += 1;
    const payload = row.view(PAYLOAD);
    const isPlain = !payload.includes(META) && isPlainText(payload);
    addItem(block.profile, {
      // Many texts need not be decoded.
      payload: isPlain ? PLAIN : (row.text(PAYLOAD) ?? ''),
      answer: row.text(ANSWER),
      assets: row.text(ASSETS),
      linkedFiles: readLinkedFiles(row.text(LINKED_FILES)),
    });
  }
  return profiles;
}

/** The caller has the files that it gave: their bytes do not go back. */
function withoutFiles(rows: EncodedRows, { contents }: FilledLines): FilledRows {
  const indexes = new Map(distinctFiles(contents).map((file, index) => [file, index]));
  const fileIndexes = rows.contents.map(({ bytes }) => indexes.get(bytes) ?? null);
  return {
    ...rows,
    fileIndexes,
    contents: rows.contents.map((one, index) =>
      fileIndexes[index] === null ? one : { ...one, bytes: new Uint8Array() },
    ),
  };
}

/** Keeps the bytes of a batch for the next ones, unless it goes back because it needs files. */
function reuse(work: EncodeWork, outcome: EncodeOutcome): void {
  if ('needsFiles' in outcome) return;
  const { bytes } = work.kind === 'filled' ? work.lines.batch : work.batch;
  pool.release(bytes.buffer as ArrayBuffer);
  if (work.kind === 'filled') for (const buffer of buffers(work.lines.contents.flat())) freeBuffer(buffer);
}

function buffersOf(outcome: EncodedRows | NeedsFiles): ArrayBuffer[] {
  if ('needsFiles' in outcome) return buffers([outcome.bytes]);
  const { rows, itemHashes, lines, contents } = outcome;
  return buffers([
    rows,
    itemHashes,
    ...(lines === null ? [] : [lines]),
    ...contents.map(({ bytes }) => bytes),
  ]);
}
