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
