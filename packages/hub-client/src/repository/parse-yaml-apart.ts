import { Worker } from 'node:worker_threads';
import { HubError } from '../errors.ts';
import { countEntries, invalidMetadata, type YamlLocation, type YamlValue } from './metadata.ts';
import { parseYaml } from './parse-yaml.ts';
import type { YamlReply } from './parse-yaml-thread.ts';

/** Some milliseconds of parsing; a thread takes longer to start. */
const MAX_INLINE_ENTRIES = 300;
const DEADLINE_MS = 30_000;
const MAX_HEAP_MB = 384;

/** The thread's file is in this folder, compiled or not. */
const THREAD_FILE = new URL(
  import.meta.url.endsWith('.ts') ? './parse-yaml-thread.ts' : './parse-yaml-thread.js',
  import.meta.url,
);

/** The thread before; one at a time bounds what hostile texts can take. */
let before: Promise<unknown> = Promise.resolve();

/**
 * Parses YAML as `parseYaml` does; on a thread if that would block this one for long.
 *
 * @throws HubError `hub_unsupported_dataset`
 */
export async function parseYamlApart(text: string, location: YamlLocation): Promise<YamlValue> {
  if (countEntries(text) <= MAX_INLINE_ENTRIES) return parseYaml(text, location);
  const parsed = before.then(() => parseOnThread(text, location));
  before = parsed.catch(() => undefined);
  return await parsed;
}

function parseOnThread(text: string, location: YamlLocation): Promise<YamlValue> {
  const worker = new Worker(THREAD_FILE, {
    workerData: { text, location },
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const parsed = new Promise<YamlValue>((resolve, reject) => {
    const tooMuch = (cause?: unknown): void => {
      const reason = 'parsing takes too long or too much memory';
      reject(invalidMetadata(reason, { location: { file: location.file }, cause }));
    };
    deadline = setTimeout(tooMuch, DEADLINE_MS);
    worker.on('message', (answer: YamlReply) => {
      if ('value' in answer) return resolve(answer.value);
      const { message, location: at } = answer.refused;
      reject(new HubError('hub_unsupported_dataset', message, at && { location: at }));
    });
    // Anything else that ends the thread is a fault of this program, not of the text.
    worker.on('error', (error: Error & { readonly code?: string }) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch(error) : reject(error),
    );
    worker.on('exit', () => reject(new Error('The thread that parses YAML has died.')));
  });
  return parsed.finally(async () => {
    clearTimeout(deadline);
    await worker.terminate();
  });
}
