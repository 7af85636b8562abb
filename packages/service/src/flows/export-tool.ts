import {
  needsModel,
  type ToolSource,
  type WrittenTool,
  writesDatasets,
  writesRuns,
  writeTool,
} from '@svc/formats';
import { filesOfPart, type LinkedFile, replaceLinked } from '@svc/jsonl-v23/assets';
import { encodeBase64, toHex } from '@svc/jsonl-v23/bytes';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { type KnownSecrets, redactValue, spellingsOf } from '@svc/jsonl-v23/secrets';
import type { ExportResult } from '@svc/pkg-format';
import { zipFiles } from '@svc/pkg-format/node';
import {
  type ExportedRun,
  joinStoredItem,
  type OpenDataset,
  type StoredItem,
  StoreError,
} from '../store/index.ts';
import { type RunSelection, selectedRun, toExportResult } from './export-package.ts';
import { type FileExport, fileBaseName } from './tables/tables.ts';

interface ToolExportOptions extends RunSelection {
  readonly tool: WrittenTool;
  readonly model?: string | undefined;
  /** Secrets known to this process: none of them is written. */
  readonly secrets?: readonly string[];
}

/**
 * Writes an open dataset, or a run of it, for another tool: stored texts → items and results → the tool's file; several
 * files become a ZIP archive. Holds one batch, and one item with its files. The caller closes the dataset when the bytes have
 * been taken.
 *
 * @throws as {@link selectedRun}; StoreError `invalid_request` for a run or a dataset in a format that has none, and
 *   for requests without a model
 */
export async function exportTool(
  open: OpenDataset,
  { tool, runId, allowIncomplete, model, secrets = [] }: ToolExportOptions,
): Promise<FileExport> {
  if (runId !== undefined && !writesRuns(tool)) {
    throw new StoreError(
      'invalid_request',
      `A run cannot be written as ${tool}: it is a format of datasets.`,
      { path: 'format' },
    );
  }
  if (runId === undefined && !writesDatasets(tool)) {
    const message = `A dataset cannot be written as ${tool}: it is a format of runs.`;
    throw new StoreError('invalid_request', message, { path: 'format' });
  }
  const { dataset } = open;
  const run = await selectedRun(open, { runId, allowIncomplete });
  const known = spellingsOf(secrets);
  const source: ToolSource = {
    ...{ name: dataset.name, versionHash: dataset.versionHash, itemCount: dataset.itemCount },
    items: () => sourceItems(open),
    run: run && sourceRun(open, run, known),
  };
  if (!model && needsModel(tool, source)) {
    const message = 'Cannot write an OpenAI batch: model is missing.';
    throw new StoreError('invalid_request', message, { path: 'model' });
  }
  const written = await writeTool(tool, source, { ...(model !== undefined && { model }) });
  const base = fileBaseName(source.run?.name ?? dataset.name, 'dataset');
  return {
    fileName: `${base}.${tool}${written.extension}`,
    mediaType: written.mediaType,
    etag: null,
    bytes: async function* () {
      if (written.kind !== 'file') return yield* zipFiles(written.files());
      for await (const { bytes } of written.files()) yield* bytes;
    },
  };
}

function sourceRun(
  open: OpenDataset,
  { id, name, status, startedAt, finishedAt, config, error }: ExportedRun,
  known: KnownSecrets,
): ToolSource['run'] {
  const redacted = redactValue(config, known).value;
  const message = isJsonObject(error) ? error['message'] : null;
  return {
    ...{ id, name, status, error: typeof message === 'string' ? message : null },
    startedAt: startedAt?.toISOString() ?? null,
    finishedAt: finishedAt?.toISOString() ?? null,
    config: isJsonObject(redacted) ? redacted : {},
    async *results() {
      for await (const batch of open.resultsBeside(id)) {
        yield batch.map(
          (result) => redactValue(toExportResult(result) as JsonValue, known).value as ExportResult,
        );
      }
    },
  };
}

async function* sourceItems(open: OpenDataset): ReturnType<ToolSource['items']> & AsyncGenerator {
  for await (const batch of open.items()) {
    for (const stored of batch) {
      const { section, orderIndex, itemHash } = stored;
      yield [{ section, orderIndex, itemHash: toHex(itemHash), item: await wholeItem(open, stored) }];
    }
  }
}

async function wholeItem(open: OpenDataset, stored: StoredItem): Promise<JsonObject> {
  const contents = new Map<LinkedFile, string>();
  for (const file of stored.linkedFiles) contents.set(file, await contentOf(open, file));
  const embed = (text: string | null, part: 'assets' | 'checker'): string | null => {
    const files = filesOfPart(stored.linkedFiles, part);
    if (text === null || files.length === 0) return text;
    return replaceLinked(text, files, (file) => `${file.before}${contents.get(file) ?? ''}${file.after}`);
  };
  const { payload, answer } = stored;
  const parts = {
    payload,
    answer,
    checker: embed(stored.checker, 'checker'),
    assets: embed(stored.assets, 'assets'),
  };
  return parseJson(joinStoredItem(parts)) as JsonObject;
}

async function contentOf(open: OpenDataset, file: LinkedFile): Promise<string> {
  const content = open.content(file, []);
  if (content instanceof Uint8Array) return encodeBase64(content);
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return encodeBase64(Buffer.concat(chunks));
}
