import { Alert } from '@mantine/core';
import { onlineManager, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { serviceResponds } from '../api/service-responds.ts';
import { Icon } from '../ui/icons.tsx';

const RETRY_MS = 2000;

/** Says that the service does not respond, asks until it does, and then refreshes what is shown. */
export function ConnectionBanner() {
  const isLost = useIsLost();
  const queries = useQueryClient();
  useEffect(() => {
    if (!isLost) return;
    const timer = setInterval(async () => {
      if (!(await serviceResponds())) return;
      onlineManager.setOnline(true);
      await queries.invalidateQueries();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [isLost, queries]);
  if (!isLost) return null;
  return (
    <Alert color="orange.5" variant="filled" icon={<Icon name="plugConnectedX" size={18} />} mb="md">
      The service does not respond. What you see may be out of date. The page continues when the service is
      back.
    </Alert>
  );
}

const isLost = (): boolean => !onlineManager.isOnline();

export const useIsLost = (): boolean => useSyncExternalStore(onlineManager.subscribe, isLost, isLost);
