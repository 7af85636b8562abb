import { createContext, useContext } from 'react';

const NavigatedContext = createContext<string | null>(null);

/** Tells pages to which one the browser came from another page of the console. */
export const NavigatedProvider = NavigatedContext.Provider;

/** The path to which the browser came from another page of the console; null for the first page. */
export const useNavigated = (): string | null => useContext(NavigatedContext);
