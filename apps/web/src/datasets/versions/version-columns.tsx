import { Badge, Button, Group, Text } from '@mantine/core';
import { LinkAnchor } from '../../ui/layout/links.tsx';
import { sourceDetails } from '../../ui/source-badge.tsx';
import type { Column } from '../../ui/table/table-model.ts';
import { Age } from '../../ui/text/age.tsx';
import { CopyText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { formatCount } from '../../ui/text/formats.ts';
import { changeText, type Version } from '../queries.ts';

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
  onCompare,
  onRestore,
  onDelete,
}: {
  /** Id of the dataset. */
  readonly id: string;
  /** Newest first. */
  readonly versions: readonly Version[];
  readonly newest: number;
  readonly onCompare: (from: number, to: number) => void;
  readonly onRestore: ((version: Version) => void) | undefined;
  readonly onDelete: ((version: Version) => void) | undefined;
}): readonly Column<Version>[] {
  const before = new Map(versions.map(({ version }, at) => [version, versions[at + 1]?.version]));
  return [
    {
      label: 'Version',
      size: 110,
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
      label: 'What was done',
      size: 220,
      share: 3,
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
      label: 'Changes',
      size: 160,
      share: 1,
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
    { label: 'Items', size: 80, isNumber: true, cell: ({ item_count }) => formatCount(item_count) },
    {
      label: 'Runs',
      size: 60,
      isNumber: true,
      cell: ({ run_count }) => (run_count === 0 ? '–' : formatCount(run_count)),
    },
    { label: 'By', size: 90, isOptional: true, cell: ({ author }) => author ?? '–' },
    { label: 'When', size: 110, cell: ({ created_at }) => <Age since={created_at} /> },
    {
      label: 'Hash',
      size: 110,
      isOptional: true,
      cell: ({ version, version_hash }) => (
        <CopyText text={version_hash} length={8} label={`hash of version ${version}`} />
      ),
    },
    ...(onRestore === undefined && onDelete === undefined
      ? []
      : [
          {
            label: 'Actions',
            size: 150,
            cell: (version: Version) => version.version !== newest && actions(version),
          },
        ]),
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
