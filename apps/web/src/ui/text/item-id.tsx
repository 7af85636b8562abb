import { Badge, Group } from '@mantine/core';

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

/** The tags of an item in a cell. */
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
