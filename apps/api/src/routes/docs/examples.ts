/** Request bodies that the service accepts, by the `operationId` of their route. */
export const REQUEST_EXAMPLES: Readonly<Record<string, unknown>> = {
  previewHubDataset: { path: 'openai/gsm8k', subset: 'main', split: 'test', limit: 3 },
  importHubDataset: {
    name: 'GSM8K test',
    config: { path: 'openai/gsm8k', subset: 'main', split: 'test' },
    mapping: { prompt_column: 'question', answer_column: 'answer', meta_columns: { source: 'answer' } },
  },
  createRun: {
    dataset_id: '7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d',
    name: 'trial',
    config: { provider: { type: 'echo' }, checker: { type: 'exact_match' } },
  },
  editItems: {
    edits: [
      { item_id: 'q-17', item: { id: 'q-17', inputs: { prompt: 'What is 6 × 7?' }, answer: '42' } },
      { item_id: 'q-18', section: 'test', remove: true },
    ],
    message: 'a typing error, and an item that leaked',
  },
  restoreVersion: { version: 3, message: 'the corrections were wrong' },
  updateDataset: { handle: 'gsm8k-test', description: 'Grade school math, test split' },
  updateSettings: { cancellation_check_interval_ms: 1000 },
};

/** Response bodies, by the `operationId` of their route. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, unknown>> = {
  getHealth: { status: 'ok' },
  getSettings: { cancellation_check_interval_ms: 2000, telemetry: 'opt-in' },
};

/** An error of any route. */
export const PROBLEM_EXAMPLE: unknown = {
  type: 'https://github.com/svc-data/svc/blob/main/docs/errors.md#dataset_not_found',
  title: 'Dataset not found',
  status: 404,
  detail: 'Dataset 7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d not found.',
  instance: '/datasets/7e0f6c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d',
  code: 'dataset_not_found',
  request_id: '0f7c3a5e9b1d4c2f8a6e0d9b7c5a3f1e',
};
