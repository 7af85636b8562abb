import { JsonlError } from '../errors.ts';
import { type CutOptions, type LineBatch, LineCutter } from './line-cutter.ts';

/**
 * Cuts a stream of bytes into batches of whole lines, as `LineCutter` does, up to the first faulty line.
 *
 * @throws JsonlError `line_too_long` with file and line, after the lines before it, for a line with more bytes, or with
 * more than `MAX_LINE_VALUES` JSON values; the signal's reason; what the source throws
 */
export async function* splitLines(
  source: AsyncIterable<Uint8Array>,
  options: CutOptions & { readonly file?: string } = {},
): AsyncGenerator<LineBatch, void, undefined> {
  const { file } = options;
  for await (const batch of new LineCutter(options).batches(source)) {
    if (batch.fault === undefined) yield batch;
    else {
      const line = batch.firstLine;
      const location = file === undefined ? { line } : { file, line };
      throw new JsonlError('line_too_long', `Line ${line} ${batch.fault}`, location);
    }
  }
}
