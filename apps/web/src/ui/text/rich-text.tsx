import { Box, SegmentedControl, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { loadedAgain } from '../../api/service-responds.ts';
import { canRender } from './can-render.ts';
import { isCodeLike } from './is-code-like.ts';

const Markdown = lazy(loadedAgain(() => import('./markdown.tsx')));
const CodeText = lazy(loadedAgain(() => import('./code-text.tsx')));

/**
 * Text that may be Markdown with LaTeX, rendered safely where that does not block the page, or code, or raw on request. The
 * choice is one for the whole console.
 */
export function RichText({
  text,
  label,
  isCode = false,
}: {
  readonly text: string;
  readonly label: string;
  /** Whether the text is known to be code. */
  readonly isCode?: boolean;
}) {
  const [view, setView] = useLocalStorage({
    key: 'svc.text-view',
    defaultValue: 'rendered',
    getInitialValueInEffect: false,
  });
  const isBlock = isCodeLike(text, isCode);
  if (!isBlock && !canRender(text)) return <Plain text={text} />;
  return (
    <Box className="switched-text">
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
          {isBlock ? <CodeText text={text} /> : <Markdown text={text} />}
        </Suspense>
      )}
    </Box>
  );
}

function Plain({ text }: { readonly text: string }) {
  return (
    <Text size="sm" dir="auto" className="break lines">
      {text}
    </Text>
  );
}
