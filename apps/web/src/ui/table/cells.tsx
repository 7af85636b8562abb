import { Badge, Group } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { formatAge, plainText, present } from '../text/formats.ts';
import type { Column } from './table-model.ts';

type Cell<Row> = Column<Row>['cell'];

export const numbers = <Row,>(
  label: string,
  cell: Cell<Row>,
  more: Partial<Column<Row>> = {},
): Column<Row> => ({ label, cell, isNumber: true, ...more });

export const texts = <Row,>(
  label: string,
  cell: Cell<Row>,
  more: Partial<Column<Row>> = {},
): Column<Row> => ({ label, cell, wraps: true, ...more });

export const ages = <Row,>(
  label: string,
  of: (row: Row) => string,
  more: Partial<Column<Row>> = {},
): Column<Row> => ({ label, size: 110, cell: (row) => <Age since={of(row)} />, ...more });

const STEP_MS = 30_000;

/** How long ago something was, with the exact time as its title. It steps every 30 s. */
export function Age({ since }: { readonly since: string }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useInterval(() => setNowMs(Date.now()), STEP_MS, { autoInvoke: true });
  return (
    <time dateTime={since} title={since}>
      {formatAge(since, nowMs)}
    </time>
  );
}

/** Characters that stay in view: ids of one dataset often differ at their ends only. */
const PARTS = /^(.{4,})(.{8})$/su;

/** The id of an item in a narrow cell, which leaves out its middle where there is no room. */
export function ItemId({ id }: { readonly id: string }) {
  const [, start, end] = PARTS.exec(id) ?? [];
  if (start === undefined) return id;
  return (
    <span className="item-id" title={id}>
      <span>{start}</span>
      <span>{end}</span>
    </span>
  );
}

export function Tags({ tags }: { readonly tags: readonly string[] }) {
  return (
    <Group gap={4} wrap="nowrap">
      {tags.map((tag) => (
        <Badge key={tag} size="xs" variant="default">
          {tag}
        </Badge>
      ))}
    </Group>
  );
}

const COLORS: Readonly<Record<string, string>> = {
  queued: 'gray',
  running: 'blue',
  completed: 'teal',
  succeeded: 'teal',
  ok: 'teal',
  failed: 'red',
  cancelling: 'orange',
  cancelled: 'gray',
  stopped: 'orange',
  unscored: 'gray',
};

export function StatusBadge({ status }: { readonly status: string }) {
  return (
    <Badge size="sm" miw="max-content" variant="dot" color={COLORS[status] ?? 'gray'}>
      {status}
    </Badge>
  );
}

const LABELS: Readonly<Record<string, string>> = { hub: 'hub', pkg_zip: 'package', file: 'file' };

type Schema = Readonly<Record<string, unknown>>;

/** Where a dataset came from, in a word. */
export function sourceName(schema: Schema): string {
  const source = plainText(getMember(schema as JsonObject, 'source'), 20);
  return LABELS[source] ?? (source || 'unknown');
}

const MAX_NAMED_FILES = 3;

/** What the items of a version come from: the repository and its commit, and the files. */
export function sourceDetails(schema: Schema): string {
  const { config, files } = schema;
  const hub = isJsonObject(config as JsonValue | undefined) ? (config as JsonObject) : {};
  const path = getMember(hub, 'path');
  const revision = path === undefined ? undefined : getMember(hub, 'resolved_revision');
  const names = (Array.isArray(files) ? files : []).map((file: JsonValue) =>
    plainText(isJsonObject(file) ? getMember(file, 'name') : undefined, 100),
  );
  const more = names.length - MAX_NAMED_FILES;
  return present([
    path !== undefined && plainText(path, 200),
    revision !== undefined && `commit ${plainText(revision, 12)}`,
    ...names.slice(-MAX_NAMED_FILES),
    more > 0 && `${more} more ${more === 1 ? 'file' : 'files'}`,
  ]).join(', ');
}

export function SourceBadge({ schema }: { readonly schema: Schema }) {
  return (
    <Badge size="sm" variant="default">
      {sourceName(schema)}
    </Badge>
  );
}
