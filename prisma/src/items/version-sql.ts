/*
 * SQL that reads the items of a version. A section is a row of ranges of parts (docs/decisions/versions-as-ranges.md): three
 * arrays with the part of each range, and the positions of its first item in the section (`starts`, which ascend from 0) and
 * in the part (`firsts`). All fragments read a row `s` of `sections`, or of the view `version_sections`.
 */

/**
 * The condition that rows `s` of `version_sections` are of one version.
 *
 * @param dataset placeholder of its id
 * @param version placeholder of its number, or null for the newest
 */
export function ofVersion(dataset: string, version: string, s = 's'): string {
  return `${s}.dataset_id = ${dataset} AND ${s}.version = ${versionNumber(dataset, version)}`;
}

/** The number of a version, `version` or the newest one; null if there is no such dataset. */
export function versionNumber(dataset: string, version: string): string {
  return `coalesce(${version}::int, (SELECT version FROM datasets WHERE id = ${dataset}))`;
}

/** The condition that rows `s` of `version_sections` are of the version of a row `run` of `runs`. */
export function ofRun(run: string, s = 's'): string {
  return `${s}.dataset_id = ${run}.dataset_id AND ${s}.version = ${run}.dataset_version`;
}

/** The ranges of a section, for a FROM clause: rows `(part_id, start, first, stop)`, where `stop` is the position after the last item. */
export function rangesOf(s = 's'): string {
  return `(SELECT * FROM unnest(${s}.part_ids, ${s}.starts, ${s}.firsts, ${s}.starts[2:] || ${s}.item_count)
    AS range (part_id, start, first, stop) WHERE part_id IS NOT NULL)`;
}

/** The condition that a row `i` of `items` is at a position of section `s`. */
export function isItemAt(position: string, s = 's', i = 'i'): string {
  const range = `width_bucket(${position}, ${s}.starts)`;
  return `${i}.part_id = ${s}.part_ids[${range}] AND ${i}.ordinal = ${position} - ${s}.starts[${range}] + ${s}.firsts[${range}]`;
}
