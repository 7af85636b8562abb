import { Alert } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';
import { serviceResponds } from '../api/service-responds.ts';
import { IconPlugConnectedX } from '../ui/icons.tsx';

const RETRY_MS = 2000;

/** Says that the service does not respond, asks until it does, and then refreshes what is shown. */
export function ConnectionBanner() {
  const { connection, isLost } = useConnection();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(async () => {
      if (!(await serviceResponds())) return;
      connection.set(false);
      await queries.invalidateQueries();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [isLost, connection, queries]);
  if (!isLost) return null;
  return (
    <Alert
      color="orange.5"
      variant="filled"
      autoContrast
      icon={<IconPlugConnectedX size={18} />}
      mb="md"
      role="alert"
    >
      The service does not respond. What you see may be out of date. The page continues when the service is
      back.
    </Alert>
  );
}

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
