import { useLocalStorage } from '@mantine/hooks';

/** How far the user is in the tour. */
interface TourState {
  readonly status: 'new' | 'active' | 'dismissed' | 'completed';
  readonly step: number;
}

/** The tour of this browser. It can be dismissed for good, and taken again from the settings. */
export function useTour(): {
  readonly state: TourState;
  readonly go: (step: number) => void;
  readonly end: (status: 'dismissed' | 'completed') => void;
  readonly restart: () => void;
} {
  const [state, setState] = useLocalStorage<TourState>({
    key: 'svc.tour',
    defaultValue: { status: 'new', step: 0 },
    getInitialValueInEffect: false,
  });
  return {
    state,
    go: (step) => setState({ status: 'active', step }),
    end: (status) => setState({ status, step: state.step }),
    restart: () => setState({ status: 'new', step: 0 }),
  };
}
