import { useLocalStorage } from '@mantine/hooks';

interface TourState {
  readonly status: 'new' | 'active' | 'dismissed' | 'completed';
  readonly step: number;
}

/** The tour of this browser. It can be dismissed for good, and taken again from the settings. */
export function useTour() {
  const [state, setState] = useLocalStorage<TourState>({
    key: 'svc.tour',
    defaultValue: { status: 'new', step: 0 },
    getInitialValueInEffect: false,
  });
  return {
    state,
    go: (step: number) => setState({ status: 'active', step }),
    end: (status: 'dismissed' | 'completed') => setState({ status, step: state.step }),
    restart: () => setState({ status: 'new', step: 0 }),
  };
}

/** Whether the user of this browser has switched telemetry on; only they can. The browser keeps it. */
export const useTelemetryConsent = () =>
  useLocalStorage({ key: 'svc.telemetry', defaultValue: false, getInitialValueInEffect: false });
