import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { happened } from '../../../tools/vitest/until.ts';

/** What the provider does with a request. */
export type Reply =
  | {
      readonly text: string;
      readonly delayMs?: number;
      readonly finishReason?: string;
      /** More members of the message, such as `refusal`. */
      readonly message?: object;
    }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** Default: `{"error":{"message":"not now"}}`. */
      readonly body?: string;
    }
  /** A body that is not a chat completion. */
  | { readonly body: string }
  /** No response, until the caller gives up or `release` is called. */
  | 'hang'
  /** the connection breaks */
  | 'break';

export interface FakeProvider extends AsyncDisposable {
  /** as `base_url` of a run */
  readonly baseUrl: string;
  /** prompt → how often it was asked */
  readonly asked: ReadonlyMap<string, number>;
  /** requests that are waiting for an answer now */
  readonly waiting: () => number;
  /** requests that were given up by the client */
  readonly aborted: () => number;
  /** answers everything that hangs, and hangs no more */
  readonly release: () => void;
}

/**
 * A chat-completions server on a free port.
 *
 * @param reply what to do with a prompt that is asked for the nth time, counted from 1
 */
export async function startFakeProvider(
  reply: (prompt: string, attempt: number) => Reply,
): Promise<FakeProvider> {
  const asked = new Map<string, number>();
  const hanging = new Map<ServerResponse, string>();
  let waiting = 0;
  let aborted = 0;
  let released = false;

  const complete = (
    response: ServerResponse,
    text: string,
    { finishReason = 'stop', message = {} }: { finishReason?: string; message?: object } = {},
  ): void => {
    response.setHeader('content-type', 'application/json');
    const choice = { message: { role: 'assistant', content: text, ...message }, finish_reason: finishReason };
    const usage = { prompt_tokens: 7, completion_tokens: text.length, total_tokens: text.length + 7 };
    response.end(JSON.stringify({ choices: [choice], usage }));
  };
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { messages } = JSON.parse(text) as { messages: { content: string }[] };
    const prompt = messages.at(-1)?.content ?? '';
    const attempt = (asked.get(prompt) ?? 0) + 1;
    asked.set(prompt, attempt);
    waiting += 1;
    happened();
    response.once('close', () => {
      waiting -= 1;
      if (!response.writableFinished) aborted += 1;
      hanging.delete(response);
      happened();
    });
    const found = reply(prompt, attempt);
    if (found === 'break') request.socket.destroy();
    else if (found === 'hang') {
      if (released) complete(response, prompt);
      else hanging.set(response, prompt);
    } else if ('status' in found) {
      const { status, headers = {}, body = '{"error":{"message":"not now"}}' } = found;
      response.writeHead(status, headers).end(body);
    } else if ('body' in found) response.end(found.body);
    else setTimeout(() => complete(response, found.text, found), found.delayMs ?? 0);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    waiting: () => waiting,
    aborted: () => aborted,
    release: () => {
      released = true;
      for (const [response, prompt] of hanging) complete(response, prompt);
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
