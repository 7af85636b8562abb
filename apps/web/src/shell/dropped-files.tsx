import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';

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
