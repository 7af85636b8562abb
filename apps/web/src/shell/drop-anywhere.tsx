import { Center, Overlay, Text } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

/** Lets a file be dropped on any page: the upload page opens it. */
export function DropAnywhere() {
  const { setFiles } = useDroppedFiles();
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

interface DroppedFiles {
  readonly files: readonly File[];
  readonly setFiles: (files: readonly File[]) => void;
}

const FilesContext = createContext<DroppedFiles>({ files: [], setFiles: () => undefined });

/** Keeps the files that were dropped on any page until the upload page takes them. */
export function FilesProvider({ children }: { readonly children: ReactNode }) {
  const [files, setFiles] = useState<readonly File[]>([]);
  const value = useMemo(() => ({ files, setFiles }), [files]);
  return <FilesContext.Provider value={value}>{children}</FilesContext.Provider>;
}

/** The dropped files, and how to change them. */
export const useDroppedFiles = (): DroppedFiles => useContext(FilesContext);
