import { LineCutter } from '@svc/jsonl-v23/internal';
import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { Cli } from '../../cli-context.ts';
import { CliError, EXIT } from '../../errors/cli-error.ts';
import { printReport } from '../../output/print.ts';
import { showProgress } from '../../output/progress.ts';
import { readBytes } from '../../package/input-file.ts';
import { runParams } from '../../service/references.ts';
import { repeatLost, type ServiceClient } from '../../service/service-client.ts';
import { formatFacts, printableValue } from '../../text/format.ts';
import { flag, operation } from '../define-operation.ts';

/** Bytes of one request. A lost connection makes the command send it again. */
const BATCH_BYTES = 4 * 1024 * 1024;
const MAX_NAMED = 100;

interface Pushed {
  accepted: number;
  replaced: number;
  redacted: number;
  readonly rejected: { readonly line: number; readonly message: string }[];
  rejected_total: number;
}

export const push = operation({
  summary: 'send results that were made elsewhere',
  description:
    'Sends results to a run with the provider "external": one JSON object per line, see docs/runs.md. What is sent ' +
    'twice is stored once. Ends with 1 if lines were rejected, and names the first 100 of them.',
  arguments: { run: ['<run>', 'id of the run'], file: ['<file>', 'JSON Lines, - for standard input'] },
  options: {
    finish: flag('--finish', 'end the run afterwards, if no line was rejected'),
    allowMissing: flag('--allow-missing', 'with --finish, end it although results are missing'),
  },
  examples: [
    'svc-pkg results push 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d done.jsonl --finish',
    './my-agent | svc-pkg results push 0b9f2c1e-52d7-4d4c-8f0e-0d9b8b1c2a3d -',
  ],
  async run({ run, file, finish, allowMissing = false }, cli, open) {
    const service = await open();
    const pushed = await pushFile(cli, service, run, file);
    const rejected = pushed.rejected_total;
    if (finish === true && rejected === 0) {
      const request = { params: runParams(run), body: { allow_missing: allowMissing } };
      await service.read(service.api.POST('/runs/{id}/finish', request));
    }
    await printReport(cli, { text: () => textOf(pushed), json: () => JSON.stringify(pushed) });
    if (rejected > 0) cli.endWith(EXIT.failed);
  },
});

/** Sends a file in requests of some MiB, each again if its connection is lost: the service stores each result once. */
async function pushFile(cli: Cli, service: ServiceClient, run: string, file: string): Promise<Pushed> {
  const pushed: Pushed = { accepted: 0, replaced: 0, redacted: 0, rejected: [], rejected_total: 0 };
  using progress = showProgress(cli, 'sending');
  let bytes = 0;
  const cutter = new LineCutter({ batchBytes: BATCH_BYTES, signal: cli.signal });
  for await (const batch of cutter.batches(readBytes(cli, file))) {
    if ('fault' in batch) {
      pushed.rejected_total += 1;
      if (pushed.rejected.length < MAX_NAMED) {
        pushed.rejected.push({ line: batch.line, message: `The line ${batch.fault}.` });
      }
      continue;
    }
    const { value } = await repeatLost(cli, () => service.read(pushLines(service, run, batch.bytes)));
    add(pushed, value as JsonValue, batch.firstLine - 1);
    bytes += batch.bytes.byteLength;
    progress.update(bytes, null);
  }
  return pushed;
}

function pushLines({ api }: ServiceClient, run: string, lines: Uint8Array) {
  return api.POST('/runs/{id}/results', {
    params: runParams(run),
    // With a length, the bytes are sent as they are.
    headers: { 'content-type': 'application/jsonl', 'content-length': String(lines.byteLength) },
    body: lines as never,
    bodySerializer: (bytes) => bytes,
  });
}

/** Adds what the service says of a request. @param linesBefore lines of the file that earlier requests had */
function add(pushed: Pushed, response: JsonValue, linesBefore: number): void {
  const { accepted, replaced, redacted, rejected_total, rejected } = isJsonObject(response) ? response : {};
  if (typeof accepted !== 'number' || typeof replaced !== 'number' || typeof rejected_total !== 'number') {
    throw new CliError('bad_response', 'The service returned something other than the outcome of the lines');
  }
  pushed.accepted += accepted;
  pushed.replaced += replaced;
  pushed.redacted += typeof redacted === 'number' ? redacted : 0;
  pushed.rejected_total += rejected_total;
  for (const one of Array.isArray(rejected) ? rejected : []) {
    if (!isJsonObject(one) || pushed.rejected.length >= MAX_NAMED) continue;
    pushed.rejected.push({ line: linesBefore + Number(one['line']), message: String(one['message']) });
  }
}

function textOf({ accepted, replaced, redacted, rejected, rejected_total }: Pushed): string {
  const lines = rejected.map(({ line, message }) => `line ${line}: ${printableValue(message)}\n`).join('');
  const facts: [string, number][] = [
    ['accepted', accepted],
    ['replaced', replaced],
    ...(redacted > 0 ? [['redacted', redacted] as [string, number]] : []),
    ['rejected', rejected_total],
  ];
  return `${formatFacts(facts)}${lines}`;
}
