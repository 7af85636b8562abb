import { Alert } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { serviceResponds } from '../api/service-responds.ts';
import { useConnection } from './connection.ts';

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
