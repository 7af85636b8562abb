import { useEffect, useRef } from 'react';
import { fetchOk } from './api.ts';

/** After a refusal, such as one of a proxy whose service restarts. */
const REOPEN_MS = 3_000;

/** Follows a stream of server-sent events: each `progress` and the last `end` have the whole state. Null follows nothing. */
export function useEvents<State>(url: string | null, onState: (state: State) => void): void {
  const latest = useRef(onState);
  latest.current = onState;
  useEffect(
    () => (url === null ? undefined : followEvents<State>(url, (state) => latest.current(state))),
    [url],
  );
}

/** Opens a stream of events until its `end`. A browser opens a lost connection again, but not one that is refused. */
export function followEvents<State>(url: string, onState: (state: State) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let source: EventSource;
  const open = (): void => {
    source = new EventSource(url);
    const read = (event: MessageEvent<string>): void => onState(JSON.parse(event.data) as State);
    source.addEventListener('progress', read);
    source.addEventListener('end', (event) => {
      read(event as MessageEvent<string>);
      source.close();
    });
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, REOPEN_MS);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** The lines of a text that the service streams; memory holds one of them. To stop early ends the request. */
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
