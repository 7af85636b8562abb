import { type ChunkSource, chunksOf } from '@svc/jsonl-v23/streams';

/** A file of a form. */
export interface FormSource {
  readonly name: string;
  readonly byteLength: number;
  /** The bytes, from the beginning in each call. */
  read(): ChunkSource<Uint8Array>;
}

/** A multipart form (RFC 7578) whose files are read while it is sent. */
export interface StreamedForm {
  readonly contentType: string;
  readonly byteLength: number;
  /**
   * All of its bytes, from the beginning in each call; at most one chunk of a file is in memory.
   *
   * @throws RangeError for a file that is not as long as it says; errors of the sources
   */
  parts(): AsyncGenerator<Uint8Array, void, undefined>;
}

/**
 * The form of an upload: the fields, then the files.
 *
 * @param onProgress receives the bytes of the files that were read so far, and those of all files
 */
export function formOf(
  sources: readonly FormSource[],
  fields: Readonly<Record<string, string>>,
  boundary: string,
  onProgress: (sentBytes: number, totalBytes: number) => void = () => {},
): StreamedForm {
  const encoder = new TextEncoder();
  const part = (lines: readonly string[]): string => [`--${boundary}`, ...lines, '', ''].join('\r\n');
  const texts = Object.entries(fields).map(
    ([name, value]) => `${part([`Content-Disposition: form-data; name="${escaped(name)}"`])}${value}\r\n`,
  );
  const head = encoder.encode(texts.join(''));
  const files = sources.map((source) => {
    const disposition = `Content-Disposition: form-data; name="file"; filename="${escaped(source.name)}"`;
    return { source, head: encoder.encode(part([disposition, 'Content-Type: application/octet-stream'])) };
  });
  const end = encoder.encode('\r\n');
  const tail = encoder.encode(`--${boundary}--\r\n`);
  const totalBytes = sources.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const headBytes = files.reduce((sum, file) => sum + file.head.byteLength + end.byteLength, 0);

  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    byteLength: head.byteLength + headBytes + totalBytes + tail.byteLength,
    async *parts() {
      let sentBytes = 0;
      if (head.byteLength > 0) yield head;
      for (const { source, head: headOfFile } of files) {
        const startBytes = sentBytes;
        yield headOfFile;
        for await (const chunk of chunksOf(source.read())) {
          const readBytes = sentBytes + chunk.byteLength - startBytes;
          if (readBytes > source.byteLength) throw wrongLength(source, `more than ${source.byteLength}`);
          yield chunk;
          sentBytes += chunk.byteLength;
          onProgress(sentBytes, totalBytes);
        }
        const readBytes = sentBytes - startBytes;
        if (readBytes !== source.byteLength) throw wrongLength(source, String(readBytes));
        yield end;
      }
      yield tail;
    },
  };
}

const wrongLength = ({ name, byteLength }: FormSource, got: string): RangeError =>
  new RangeError(`The file ${name} must have ${byteLength} bytes, got ${got}.`);

/** As browsers do (HTML, "multipart/form-data encoding algorithm"). */
const escaped = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
