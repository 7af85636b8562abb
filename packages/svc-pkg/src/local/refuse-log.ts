import { recogniseTool, type ToolFile } from '@svc/formats';
import { CliError } from '../errors/cli-error.ts';
import { withFileErrors } from '../errors/file-error.ts';
import { printableValue } from '../text/printable-text.ts';

/**
 * Refuses a log of Inspect, whose files could be taken for those of an older archive.
 *
 * @param path as the user gave it
 * @throws CliError `usage`, `io_error`
 */
export async function refuseLog(file: ToolFile, path: string): Promise<void> {
  if ((await withFileErrors('read', path, () => recogniseTool([file]))) !== 'inspect') return;
  throw new CliError('usage', 'It is a log of Inspect', {
    location: { file: path },
    hint: `To turn it into a package: svc-pkg convert --from inspect ${printableValue(path)}`,
  });
}
