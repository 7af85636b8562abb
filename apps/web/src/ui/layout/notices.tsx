import { Box, Notification, Stack } from '@mantine/core';
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react';

interface Notice {
  readonly id: number;
  readonly text: string;
}

const NoticesContext = createContext<(text: string) => void>(() => undefined);

const SHOWN_MS = 5000;

export function NoticesProvider({ children }: { readonly children: ReactNode }) {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const notify = useCallback((text: string) => {
    const id = performance.now();
    const remove = (): void => setNotices((all) => all.filter((notice) => notice.id !== id));
    setNotices((all) => [...all, { id, text }]);
    setTimeout(remove, SHOWN_MS);
  }, []);
  return (
    <NoticesContext.Provider value={notify}>
      {children}
      <Box pos="fixed" top={16} right={16} className="notices" role="status" aria-live="polite">
        <Stack gap="xs">
          {notices.map(({ id, text }) => (
            <Notification key={id} withCloseButton={false} color="teal" withBorder>
              {text}
            </Notification>
          ))}
        </Stack>
      </Box>
    </NoticesContext.Provider>
  );
}

export const useNotify = (): ((text: string) => void) => useContext(NoticesContext);
