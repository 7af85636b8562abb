import { Badge, Button, Checkbox, Group, Text } from '@mantine/core';
import type { Column } from '../../ui/layout/columns.tsx';
import { LinkAnchor } from '../../ui/layout/links.tsx';
import { sourceDetails } from '../../ui/source-badge.tsx';
import { Age } from '../../ui/text/age.tsx';
import { CopyText } from '../../ui/text/copy-text.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { changeText, type Version } from './use-versions.ts';

/** What was done, in words. */
const SOURCES: Readonly<Record<Version['source'], string>> = {
  upload: 'uploaded',
  hub: 'imported from the hub',
  append: 'items added',
  upsert: 'items added or replaced',
  edit: 'items edited',
  restore: 'restored',
  replace: 'replaced as a whole',
};

/** The columns of the history. What the session may not do is absent. */
export function versionColumns({
  id,
  versions,
  newest,
  chosen,
  onToggle,
  onCompare,
  onRestore,
  onDelete,
}: {
  /** Id of the dataset. */
  readonly id: string;
  /** Newest first. */
  readonly versions: readonly Version[];
  readonly newest: number;
  /** Versions to compare. */
  readonly chosen: readonly number[];
  readonly onToggle: (version: number) => void;
  readonly onCompare: (from: number, to: number) => void;
  readonly onRestore: ((version: Version) => void) | undefined;
  readonly onDelete: ((version: Version) => void) | undefined;
}): readonly Column<Version>[] {
  const before = new Map(versions.map(({ version }, at) => [version, versions[at + 1]?.version]));
  const hasSeveral = versions.length > 1;
  return [
    {
      header: '',
      width: 36,
      cell: ({ version }) =>
        hasSeveral && (
          <Checkbox
            size="xs"
            aria-label={`Compare version ${version}`}
            checked={chosen.includes(version)}
            onChange={() => onToggle(version)}
          />
        ),
    },
    {
      header: 'Version',
      cell: ({ version }) => (
        <Group gap={6} wrap="nowrap">
          <LinkAnchor
            to="/datasets/$id"
            params={{ id }}
            search={{ version: version === newest ? undefined : String(version) }}
            size="sm"
            aria-label={`Items of version ${version}`}
          >
            {version}
          </LinkAnchor>
          {version === newest && (
            <Badge size="sm" variant="light" className="whole">
              newest
            </Badge>
          )}
        </Group>
      ),
    },
    {
      header: 'What was done',
      maxWidth: 360,
      wraps: true,
      cell: ({ message, source, schema }) => (
        <>
          <Text size="sm" dir="auto">
            {message ?? SOURCES[source]}
          </Text>
          {message !== null && <Dimmed size="xs">{SOURCES[source]}</Dimmed>}
          <Dimmed size="xs">{sourceDetails(schema)}</Dimmed>
        </>
      ),
    },
    {
      header: 'Changes',
      wraps: true,
      cell: ({ version, change }) => {
        const previous = before.get(version);
        return previous === undefined ? (
          <Dimmed>{version === 1 ? 'the first version' : changeText(change)}</Dimmed>
        ) : (
          <Button
            size="compact-sm"
            variant="subtle"
            px={0}
            aria-label={`Changes of version ${version}: ${changeText(change)}`}
            onClick={() => onCompare(previous, version)}
          >
            {changeText(change)}
          </Button>
        );
      },
    },
    { header: 'Items', align: 'end', cell: ({ item_count }) => formatCount(item_count) },
    {
      header: 'Runs',
      align: 'end',
      cell: ({ run_count }) => (run_count === 0 ? '–' : formatCount(run_count)),
    },
    { header: 'By', cell: ({ author }) => author ?? '–' },
    { header: 'When', cell: ({ created_at }) => <Age since={created_at} /> },
    {
      header: 'Hash',
      cell: ({ version, version_hash }) => (
        <CopyText text={version_hash} length={8} label={`hash of version ${version}`} />
      ),
    },
    ...(onRestore === undefined && onDelete === undefined
      ? []
      : [{ header: 'Actions', cell: (version: Version) => version.version !== newest && actions(version) }]),
  ];

  function actions(version: Version) {
    return (
      <Group gap={4} wrap="nowrap">
        {onRestore !== undefined && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Restore version ${version.version}`}
            onClick={() => onRestore(version)}
          >
            Restore
          </Button>
        )}
        {onDelete !== undefined && (
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`Delete version ${version.version}`}
            onClick={() => onDelete(version)}
          >
            Delete
          </Button>
        )}
      </Group>
    );
  }
}
