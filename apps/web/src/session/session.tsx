import { Button, Center, Modal, Paper, PasswordInput, Stack, Title } from '@mantine/core';
import type { ResponseOf } from '@svc/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createContext, type FormEvent, type ReactNode, useContext, useEffect, useState } from 'react';
import { api, dataOf, get, isRefusal } from '../api/api.ts';
import { consoleName } from '../brand.ts';
import { ErrorView, PageSkeleton } from '../ui/query-state.tsx';
import { Dimmed, Refusal } from '../ui/text/dimmed.ts';

export type Session = ResponseOf<'/session', 'get'>;

const SessionContext = createContext<Session | null>(null);

const RANK = { viewer: 1, editor: 2, admin: 3 } as const;

export function SessionBoundary({ children }: { readonly children: ReactNode }) {
  const session = useQuery({ queryKey: sessionKey, queryFn: () => get('/session', {}) });
  const isSignedOut = isRefusal(session.error, 401);
  if (session.data !== undefined)
    return (
      <SessionContext.Provider value={session.data}>
        {children}
        {/* above the page, which keeps what was typed */}
        {isSignedOut && (
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
        )}
      </SessionContext.Provider>
    );
  if (session.isPending) return <PageSkeleton />;
  if (isSignedOut) return <SignInPage />;
  return <ErrorView error={session.error} onRetry={() => void session.refetch()} />;
}

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('A component that needs a session must be inside SessionBoundary.');
  return session;
}

/** Whether the session may do what a role may: what it may not is not offered. */
export function useCan(role: 'viewer' | 'editor' | 'admin'): boolean {
  return RANK[useSession().role] >= RANK[role];
}

export const sessionKey: readonly string[] = ['session'];

function SignInPage() {
  useEffect(() => {
    document.title = `Sign in · ${consoleName()}`;
  }, []);
  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder p="xl" w={380} maw="100%">
        <Title order={1} size="h3" mb="sm">
          Sign in to {consoleName()}
        </Title>
        <SignInForm />
      </Paper>
    </Center>
  );
}

/** Exchanges a key for a session. The key is forgotten as soon as it was sent. */
function SignInForm() {
  const queries = useQueryClient();
  const [key, setKey] = useState('');
  const signIn = useMutation({
    mutationKey: sessionKey,
    mutationFn: () => dataOf(api.POST('/session', { body: { key } })),
    onSuccess: async () => {
      setKey('');
      await queries.refetchQueries({ queryKey: sessionKey });
      await queries.invalidateQueries();
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    signIn.mutate();
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Dimmed>
          Enter one of the keys of this service. The browser keeps a session for 12 hours, not the key.
        </Dimmed>
        <PasswordInput
          label="Key"
          autoComplete="current-password"
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          data-autofocus
          autoFocus
          required
        />
        <Button type="submit" loading={signIn.isPending} disabled={key === ''}>
          Sign in
        </Button>
        {signIn.error !== null &&
          (isRefusal(signIn.error, 401) ? (
            <Refusal>This key is not known.</Refusal>
          ) : (
            <ErrorView error={signIn.error} />
          ))}
      </Stack>
    </form>
  );
}
