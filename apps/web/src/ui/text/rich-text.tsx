import { Box, SegmentedControl, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';

const Markdown = lazy(() => import('./markdown.tsx'));

/** Longer texts are shown as they are: rendering them would block the page. */
const MAX_RENDERED = 50_000;

/** Text that may be Markdown with LaTeX, rendered safely, or raw on request. */
export function RichText({ text, label }: { readonly text: string; readonly label: string }) {
  const [view, setView] = useState('rendered');
  const canRender = text.length <= MAX_RENDERED && /[*_`#$|[\]<>\\~]|\n/.test(text);
  if (!canRender) return <Plain text={text} />;
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
