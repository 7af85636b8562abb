import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { type Body, runEnded, startTestService, type TestService } from './start-test-service.ts';

let service: TestService;
let model: Server;
let baseUrl: string;
/** What the model was sent. */
let requests: Body[];
let statuses: number[];
beforeAll(async () => {
  service = await startTestService();
  model = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // the worker gave up
    }
    const bytes = Buffer.concat(chunks);
    expect(request.headers['content-length']).toBe(String(bytes.byteLength));
    requests.push(JSON.parse(bytes.toString()));
    const status = statuses.shift() ?? 200;
    response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
    const message = { content: '{"score": 1}' };
    response.end(
      status === 200
        ? JSON.stringify({
            choices: [{ message }],
            type: 'message',
            role: 'assistant',
            stop_reason: 'end_turn',
            content: [{ type: 'text', text: 'x' }],
          })
        : '{}',
    );
  });
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
});
afterAll(async () => {
  model.closeAllConnections();
  model.close();
  await service[Symbol.asyncDispose]();
});
beforeEach(() => {
  requests = [];
  statuses = [];
});

async function runItems(items: readonly object[], config: object): Promise<Body[]> {
  const { body: run } = await service.post('/runs', { dataset_id: await service.importItems(items), config });
  expect(await runEnded(service, run.id)).toMatchObject({ status: 'completed' });
  return (await service.get(`/runs/${run.id}/results?include=item`)).body.data;
}

const chat = (): object => ({
  provider: { type: 'openai_compatible', base_url: `${baseUrl}/v1`, model: 'm' },
  allow_unscored: true,
});
const entry = (mime_type: string, bytes: Buffer, more: object = {}) => ({
  mime_type,
  encoding: 'base64',
  data: bytes.toString('base64'),
  ...more,
});
const dataUrl = (mimeType: string, bytes: Buffer): string =>
  `data:${mimeType};base64,${bytes.toString('base64')}`;
const partsOf = (request: Body): Body[] => request.messages.at(-1).content;

describe('a run over items with files', () => {
  // Lengths around the pieces in which files are read and encoded.
  const image = randomBytes(3 * 192 * 1024 + 1);
  const [voice, paper, film] = [randomBytes(1_000), randomBytes(2), randomBytes(10)];

  it('sends what the API has a part for, once per attempt, and names the rest', async () => {
    statuses = [503, 200];
    const assets = {
      image: entry('image/png', image),
      again: entry('image/png', image),
      voice: entry('audio/wav', voice),
      paper: entry('application/pdf', paper, { path: 'assets/p.pdf' }),
      film: entry('video/mp4', film),
      remote: { url: 'https://example.org/a.png' },
    };
    const [result] = await runItems([{ inputs: { prompt: 'look “here” €' }, assets }], chat());
    expect(requests).toHaveLength(2);
    expect(requests[0]).toEqual(requests[1]);
    expect(partsOf(requests[1])).toEqual(
      [
        { type: 'text', text: 'look “here” €' },
        ...[image, image].map((bytes) => ({
          type: 'image_url',
          image_url: { url: dataUrl('image/png', bytes) },
        })),
        { type: 'file', file: { filename: 'p.pdf', file_data: dataUrl('application/pdf', paper) } },
        { type: 'image_url', image_url: { url: 'https://example.org/a.png' } },
        { type: 'input_audio', input_audio: { format: 'wav', data: voice.toString('base64') } },
      ].sort((a, b) => orderOf(a) - orderOf(b)),
    );
    expect(result).toMatchObject({ attempts: 2, omitted_assets: ['film'], error: null });
    const sha256 = createHash('sha256').update(image).digest('hex');
    expect(result?.item.assets.image).toMatchObject({
      sha256,
      byte_length: image.byteLength,
      url: expect.stringMatching(sha256),
    });
  });

  it('does so for a large item, for Anthropic, and for the judge', async () => {
    const large = { id: 1, meta: { filler: 'x'.repeat(80_000) }, inputs: { prompt: 'p' }, criteria: ['c'] };
    const items = [{ ...large, assets: [entry('image/gif', image), entry('audio/mpeg', voice)] }];
    const judge = { base_url: `${baseUrl}/v1`, model: 'judge' };
    const anthropic = { type: 'anthropic', base_url: baseUrl, model: 'claude' };
    const [result] = await runItems(items, { provider: anthropic, judge });
    expect(result, JSON.stringify(result?.error)).toMatchObject({
      status: 'ok',
      score: 1,
      omitted_assets: ['1'],
    });
    const [asked, judged] = requests;
    expect(partsOf(asked)).toEqual([
      { type: 'text', text: 'p' },
      { type: 'image', source: { type: 'base64', media_type: 'image/gif', data: image.toString('base64') } },
    ]);
    expect(partsOf(judged).slice(1)).toEqual([
      { type: 'image_url', image_url: { url: dataUrl('image/gif', image) } },
      { type: 'input_audio', input_audio: { format: 'mp3', data: voice.toString('base64') } },
    ]);
  });

  it('names what only the judge was not sent, of small and large items', async () => {
    const judge = { type: 'anthropic', base_url: baseUrl, model: 'judge' };
    const small = { inputs: { prompt: 'p' }, criteria: ['c'], assets: { voice: entry('audio/wav', voice) } };
    const large = { ...small, meta: { filler: 'x'.repeat(80_000) } };
    const results = await runItems([small, large], { ...chat(), judge });
    expect(results.map(({ omitted_assets }) => omitted_assets)).toEqual([['voice'], ['voice']]);
    expect(requests.filter(({ model }) => model === 'm').map((asked) => partsOf(asked).length)).toEqual([
      2, 2,
    ]);
  });

  it('fails an item whose file is gone, and continues', async () => {
    const [lost, kept] = [randomBytes(400_000), randomBytes(100)];
    const items = [lost, kept].map((bytes) => ({
      inputs: { prompt: 'p' },
      assets: [entry('image/png', bytes)],
    }));
    const datasetId = await service.importItems(items);
    await queryDatabase(
      service.databaseUrl,
      `UPDATE assets SET bytes = NULL, object_key = 'gone' WHERE sha256 = sha256($1::bytea)`,
      [lost],
    );
    const { body: run } = await service.post('/runs', { dataset_id: datasetId, config: chat() });
    expect(await runEnded(service, run.id)).toMatchObject({ status: 'completed', counts: { failed: 1 } });
    const { data } = (await service.get(`/runs/${run.id}/results`)).body;
    expect(data.map(({ status, error }: Body) => [status, error?.code])).toEqual([
      ['failed', 'asset_missing'],
      ['unscored', undefined],
    ]);
  });
});

/** Assets are in the order of their names: again, image, paper, remote, voice. */
function orderOf(part: Body): number {
  if (part.type === 'text') return 0;
  if (part.type === 'input_audio') return 4;
  if (part.type === 'file') return 2;
  return part.image_url.url.startsWith('https:') ? 3 : 1;
}
