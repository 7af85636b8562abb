import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';
import { loadedAgain } from '../api/service-responds.ts';
import { PageSkeleton } from './query-state.tsx';

/** A component whose code is loaded when it is first shown. Until then, something stands in its place. */
export function onDemand<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  standIn: (props: Props) => ReactNode = () => <PageSkeleton />,
): ComponentType<Props> {
  const Part = lazy(loadedAgain(load)) as unknown as ComponentType<Props>;
  return (props) => (
    <Suspense fallback={standIn(props)}>
      <Part {...props} />
    </Suspense>
  );
}
