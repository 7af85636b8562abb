import { Center, Overlay, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useState } from 'react';

export function DropAnywhere() {
  const [, setFiles] = useDroppedFiles();
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
  useWindowEvent('dragover', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(true);
  });
  useWindowEvent('dragleave', (event) => event.relatedTarget === null && setOver(false));
  useWindowEvent('drop', (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(false);
    setFiles([...(event.dataTransfer?.files ?? [])]);
    void navigate({ to: '/upload' });
  });
  if (!isOver) return null;
  return (
    <Overlay fixed zIndex={500} backgroundOpacity={0.75}>
      <Center h="100%">
        <Text size="xl" fw={600} c="white">
          Drop to upload
        </Text>
      </Center>
    </Overlay>
  );
}

/** The files that were dropped on any page until the upload page takes them, and how to change them. */
const FilesContext = createContext<
  readonly [files: readonly File[], setFiles: (files: readonly File[]) => void]
>([[], () => undefined]);

export const useDroppedFiles = () => useContext(FilesContext);

export function FilesProvider({ children }: { readonly children: ReactNode }) {
  const state = useState<readonly File[]>([]);
  return <FilesContext.Provider value={state}>{children}</FilesContext.Provider>;
}
