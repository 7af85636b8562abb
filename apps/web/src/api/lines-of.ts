import { fetchOk } from './api-problem.ts';

/**
 * The lines of a text that the service streams. Memory holds one line and one piece of the stream. To stop early
 * ends the request.
 *
 * @throws ApiProblem for an error response; ConnectionLost without a response
 */
export async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string> {
  const own = new AbortController();
  try {
    const { body } = await fetchOk(path, AbortSignal.any([signal, own.signal]));
    if (body !== null) yield* splitLines(body);
  } finally {
    own.abort();
  }
}

async function* splitLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest: string[] = [];
  for await (const text of body.pipeThrough(
    new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>,
  )) {
    const pieces = text.split('\n');
    const last = pieces.pop() ?? '';
    for (const piece of pieces) {
      yield rest.join('') + piece;
      rest = [];
    }
    rest.push(last);
  }
  const end = rest.join('');
  if (end !== '') yield end;
}
