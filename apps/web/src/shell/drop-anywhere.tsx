import { Center, Overlay, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useDroppedFiles } from './dropped-files.tsx';

/** Lets a file be dropped on any page: the upload page opens it. */
export function DropAnywhere() {
  const { setFiles } = useDroppedFiles();
  const navigate = useNavigate();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') === true;
    const over = (event: DragEvent): void => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    window.addEventListener('dragover', over, { signal });
    window.addEventListener('dragleave', (event) => event.relatedTarget === null && setOver(false), {
      signal,
    });
    window.addEventListener(
      'drop',
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        setOver(false);
        setFiles([...(event.dataTransfer?.files ?? [])]);
        void navigate({ to: '/upload' });
      },
      { signal },
    );
    return () => leaving.abort();
  }, [navigate, setFiles]);
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
