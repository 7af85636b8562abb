import { createContext, useContext, useSyncExternalStore } from 'react';

/** Whether the service responds, as far as the last request tells. */
export interface Connection {
  readonly isLost: () => boolean;
  readonly set: (isLost: boolean) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

/** Creates the state of the connection, which begins as good. */
export function createConnection(): Connection {
  let lost = false;
  const listeners = new Set<() => void>();
  return {
    isLost: () => lost,
    set: (isLost) => {
      if (isLost === lost) return;
      lost = isLost;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const ConnectionContext = createContext<Connection | null>(null);

/** Gives every component below it the state of the connection. */
export const ConnectionProvider = ConnectionContext.Provider;

/** The connection, and whether it is lost now. */
export function useConnection(): { readonly connection: Connection; readonly isLost: boolean } {
  const connection = useContext(ConnectionContext);
  if (connection === null)
    throw new Error('A component that needs the connection must be inside ConnectionProvider.');
  return { connection, isLost: useSyncExternalStore(connection.subscribe, connection.isLost) };
}
