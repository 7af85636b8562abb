import { Box, SegmentedControl, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { canRender } from './can-render.ts';

const Markdown = lazy(() => import('./markdown.tsx'));

/** Text that may be Markdown with LaTeX, rendered safely where that does not block the page, or raw on request. */
export function RichText({ text, label }: { readonly text: string; readonly label: string }) {
  const [view, setView] = useState('rendered');
  if (!canRender(text)) return <Plain text={text} />;
  return (
    <Box>
      <SegmentedControl
        className="text-switch"
        size="xs"
        value={view}
        onChange={setView}
        aria-label={`How ${label} is shown`}
        data={[
          { value: 'rendered', label: 'Rendered' },
          { value: 'raw', label: 'Raw' },
        ]}
      />
      {view === 'raw' ? (
        <Plain text={text} />
      ) : (
        <Suspense fallback={<Plain text={text} />}>
          <Markdown text={text} />
        </Suspense>
      )}
    </Box>
  );
}

function Plain({ text }: { readonly text: string }) {
  return (
    <Text size="sm" className="break" style={{ whiteSpace: 'pre-wrap' }}>
      {text}
    </Text>
  );
}
