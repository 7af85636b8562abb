import { Modal } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { createContext, type ReactNode, useContext } from 'react';
import { isRefusal } from '../api/api-problem.ts';
import { useRead } from '../api/use-read.ts';
import { ErrorView } from '../ui/error-view.tsx';
import { PageSkeleton } from '../ui/layout/page-skeleton.tsx';
import { sessionKey } from './session-key.ts';
import { SignInForm, SignInPage } from './sign-in.tsx';

export type Session = ResponseOf<'/session', 'get'>;

const SessionContext = createContext<Session | null>(null);

const RANK = { viewer: 1, editor: 2, admin: 3 } as const;

/** Shows its children to people with a session, and a sign-in page to everyone else. */
export function SessionBoundary({ children }: { readonly children: ReactNode }) {
  const session = useRead({ queryKey: sessionKey, read: (api) => api.GET('/session') });
  const isSignedOut = isRefusal(session.error, 401);
  if (session.data !== undefined)
    return (
      <SessionContext.Provider value={session.data}>
        {children}
        {isSignedOut && <SessionEnded />}
      </SessionContext.Provider>
    );
  if (session.isPending) return <PageSkeleton />;
  if (isSignedOut) return <SignInPage />;
  return <ErrorView error={session.error} onRetry={() => void session.refetch()} />;
}

/** Asks for the key again above the page, which keeps what was typed. */
function SessionEnded() {
  return (
    <Modal
      opened
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Your session has ended"
    >
      <SignInForm />
    </Modal>
  );
}

/** The session of this browser. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('A component that needs a session must be inside SessionBoundary.');
  return session;
}

/** Whether the session may do what a role may: what it may not is not offered. */
export function useCan(role: 'viewer' | 'editor' | 'admin'): boolean {
  return RANK[useSession().role] >= RANK[role];
}
