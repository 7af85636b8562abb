import { hasTexts, requireId } from './api-error.ts';
import type { ResponseOf } from './create-api-client.ts';
import { isCheck, sendFiles, type UploadFile, type UploadOptions } from './upload-file.ts';

/** A dataset after a change. */
export type ChangedDataset = ResponseOf<'/datasets/{id}/items', 'post', 201>;
/** What a change would do. */
export type CheckedChange = ResponseOf<'/datasets/{id}/items/check', 'post'>;

/** What files do to a dataset. */
export interface ItemsChange {
  /** Id or handle. */
  readonly datasetId: string;
  /** `append`: to the end; `upsert`: in place of items with the same `id`, others to the end; `replace`: in place of all. */
  readonly mode: 'append' | 'upsert' | 'replace';
  /** Section of files that name none; default: the only one of the dataset, or `default`. */
  readonly section?: string;
  /** What the history says of the change. */
  readonly message?: string;
  /** Version hash that the newest version must have; else the change fails with `version_changed`. */
  readonly ifMatch?: string;
}

/** A change is made within its request. */
export type ChangeOptions = Omit<UploadOptions, 'inBackground'>;

/**
 * Makes the next version of a dataset from a file, or from several.
 *
 * @returns the dataset, whose version is new unless its content was the same; and with it the `status` (201 for a new version)
 * and the `text` of the response
 * @throws TypeError for an empty id; as `uploadFile`
 */
export async function changeItems(
  source: UploadFile | readonly UploadFile[],
  change: ItemsChange,
  options: ChangeOptions = {},
): Promise<{ readonly dataset: ChangedDataset; readonly status: number; readonly text: string }> {
  const isDataset = (body: unknown): boolean => hasTexts(body, 'id', 'version_hash');
  const sent = await sendFiles(pathOf(change, ''), source, headersOf(change), options, isDataset);
  return { dataset: sent.body as ChangedDataset, status: sent.status, text: sent.text };
}

/** Says what a change would do, and stores nothing. @throws as `changeItems` */
export async function checkChange(
  source: UploadFile | readonly UploadFile[],
  change: ItemsChange,
  options: ChangeOptions = {},
): Promise<{ readonly check: CheckedChange; readonly text: string }> {
  const path = pathOf(change, '/check');
  const { body, text } = await sendFiles(path, source, headersOf(change), options, isCheck);
  return { check: body as CheckedChange, text };
}

function pathOf({ datasetId, mode, section }: ItemsChange, end: string): string {
  const query = new URLSearchParams({ mode, ...(section !== undefined && { section }) });
  return `/datasets/${encodeURIComponent(requireId(datasetId, 'datasetId'))}/items${end}?${query}`;
}

function headersOf({ message, ifMatch }: ItemsChange): Record<string, string> {
  return {
    ...(message !== undefined && { 'X-Version-Message': encodeURIComponent(message) }),
    ...(ifMatch !== undefined && { 'If-Match': `"${ifMatch}"` }),
  };
}
