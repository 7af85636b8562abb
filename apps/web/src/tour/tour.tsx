import { lazy, Suspense } from 'react';
import { loadedAgain } from '../api/service-responds.ts';
import { useTour } from './use-tour.ts';

const TourCard = lazy(loadedAgain(() => import('./tour-card.tsx')));

/** The tour, whose code is loaded for those who have neither taken nor dismissed it. */
export function Tour() {
  const { status } = useTour().state;
  return status === 'new' || status === 'active' ? (
    <Suspense>
      <TourCard />
    </Suspense>
  ) : null;
}
