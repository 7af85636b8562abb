import { useEffect, useRef } from 'react';

/**
 * Follows a stream of server-sent events: each `progress` and the last `end` have the whole state. A lost connection is
 * opened again by the browser.
 *
 * @param url of the stream; null follows nothing
 */
export function useEvents<State>(url: string | null, onState: (state: State) => void): void {
  const latest = useRef(onState);
  latest.current = onState;
  useEffect(() => {
    if (url === null) return;
    const source = new EventSource(url);
    const read = (event: MessageEvent<string>): void => latest.current(JSON.parse(event.data) as State);
    source.addEventListener('progress', read);
    source.addEventListener('end', (event) => {
      read(event as MessageEvent<string>);
      source.close();
    });
    return () => source.close();
  }, [url]);
}
