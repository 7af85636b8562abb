import { createHash, hash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { bytesSource } from '@svc/pkg-format';
import { openFileSource } from '@svc/pkg-format/node';
import type { UploadedFile } from './sources/uploaded-file.ts';

/** A temporary file, for which room is made before it is written. Disposing of it deletes it. */
export interface StagingFile extends AsyncDisposable {
  readonly path: string;
  /** Reserves disk space before it is used. */
  makeRoom(bytes: number): Promise<void>;
}

export interface Staging {
  create(): StagingFile;
}

/** A file of an upload: in the staging folder, or in memory if it is small. */
export type StagedFile = FileDigest &
  FileLocation & {
    /** The file name that the client gave, without any folder; empty when it gave none. */
    readonly fileName: string;
  };

type FileLocation =
  | { readonly path: string; readonly content: null }
  | { readonly path: null; readonly content: Uint8Array };

interface FileDigest {
  readonly bytes: number;
  readonly sha256: string;
}

/** A file up to this size stays in memory: writing, reading and deleting it would take longer than using it. */
const SMALL_BYTES = 64 * 1024;
/** Bytes that the small files of one upload may take in memory. */
const MEMORY_BYTES = 16 * 1024 * 1024;
/** Bytes that may wait for the disk while the next ones arrive; they are written immediately. */
const WRITE_BEHIND_BYTES = 1024 * 1024;
/** A file of unknown size reserves room in steps of this size. */
const ROOM_STEP_BYTES = 1024 * 1024;

export interface ContentFacts {
  /** Bytes of the upload from here on, which are reserved together; 0, the default, if unknown. */
  readonly declaredBytes?: number;
  /** Whether nothing else reads the chunks, so that their memory is freed when they have been written. Default false. */
  readonly ownsChunks?: boolean;
}

/** Takes the files of one upload: small ones stay in memory, the others go to the disk. Disposing of it deletes them. */
export class UploadStage implements AsyncDisposable {
  readonly #staging: Staging;
  readonly #files = new AsyncDisposableStack();
  #memoryLeft = MEMORY_BYTES;

  constructor(staging: Staging) {
    this.#staging = staging;
  }

  create(): StagingFile {
    return this.#files.use(this.#staging.create());
  }

  /** Takes the content of a file while it arrives; ends after the last write, also when it fails. */
  async add(
    fileName: string,
    content: AsyncIterable<Uint8Array>,
    { declaredBytes = 0, ownsChunks = false }: ContentFacts = {},
  ): Promise<StagedFile> {
    const chunks = content[Symbol.asyncIterator]();
    try {
      const head = await readHead(chunks, Math.min(SMALL_BYTES, this.#memoryLeft));
      if (head.isWhole) return this.#keep(fileName, Buffer.concat(head.chunks));
      const file = this.create();
      const facts = await writeFile(file, joined(head.chunks, chunks), { declaredBytes, ownsChunks });
      return { path: file.path, content: null, fileName, ...facts };
    } finally {
      await chunks.return?.();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#files.disposeAsync();
  }

  #keep(fileName: string, content: Uint8Array): StagedFile {
    const bytes = content.byteLength;
    this.#memoryLeft -= bytes;
    return { path: null, content, fileName, bytes, sha256: hash('sha256', content, 'hex') };
  }
}

async function readHead(content: AsyncIterator<Uint8Array>, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; bytes <= maxBytes; ) {
    const { done, value } = await content.next();
    if (done === true) return { chunks, isWhole: true };
    chunks.push(value);
    bytes += value.byteLength;
  }
  return { chunks, isWhole: false };
}

async function* joined(
  head: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head;
  for (;;) {
    const { done, value } = await rest.next();
    if (done === true) return;
    yield value;
  }
}

/** A chunk that is on its way to the disk, and where it ends in the file. */
interface Pending {
  readonly chunk: Uint8Array;
  readonly end: number;
}

/**
 * Frees the memory of a chunk that has been written. The garbage collector, which a few small objects hardly ever
 * start, would let the chunks of an upload take 200 MB.
 */
function free({ buffer, byteLength }: Uint8Array): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

async function writeFile(
  file: StagingFile,
  content: AsyncIterable<Uint8Array>,
  { declaredBytes, ownsChunks }: Required<ContentFacts>,
): Promise<FileDigest> {
  const sha256 = createHash('sha256');
  let bytes = 0;
  await file.makeRoom(declaredBytes);
  const makeRoom = roomInSteps(file, declaredBytes);
  // Open before the first byte: a file that a failed stream opens later would outlive its deletion.
  await using handle = await open(file.path, 'wx', 0o600);
  const output = handle.createWriteStream({ highWaterMark: WRITE_BEHIND_BYTES });
  const pending: Pending[] = [];
  async function* withRoom(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      sha256.update(chunk);
      await makeRoom(bytes);
      if (ownsChunks) pending.push({ chunk, end: bytes });
      yield chunk;
      while (pending.length > 0 && (pending[0] as Pending).end <= output.bytesWritten) {
        free((pending.shift() as Pending).chunk);
      }
    }
  }
  await pipeline(withRoom(), output);
  return { bytes, sha256: sha256.digest('hex') };
}

/** Makes room for a file of unknown size while it grows. */
export function roomInSteps(
  file: Pick<StagingFile, 'makeRoom'>,
  roomBytes: number,
): (bytes: number) => Promise<void> {
  let room = roomBytes;
  return async (bytes) => {
    if (bytes <= room) return;
    room = bytes + ROOM_STEP_BYTES;
    await file.makeRoom(room);
  };
}

export async function openStaged(
  { path, content, fileName: name, sha256 }: StagedFile,
  stack: AsyncDisposableStack,
): Promise<UploadedFile> {
  if (content !== null) return { name, sha256, source: bytesSource(content) };
  const source = await openFileSource(path);
  stack.defer(() => source.close());
  return { name, sha256, source };
}
