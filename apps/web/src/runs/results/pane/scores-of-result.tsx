import { Table } from '@mantine/core';
import { Part } from '../../../ui/layout/part.tsx';
import { formatScore } from '../../../ui/text/formats.ts';
import type { ListedResult } from '../listed-result.ts';
import { Mark } from '../mark.tsx';

/** What each scorer says. */
export function ScoresOfResult({ result: { status, scores } }: { readonly result: ListedResult }) {
  const names = Object.keys(scores ?? {});
  if (names.length === 0) return null;
  return (
    <Part title="Scores">
      <Table w="auto" tabularNums verticalSpacing={4}>
        <Table.Tbody>
          {names.map((name) => {
            const { score, passed = null, explanation = null, scored_by = null } = scores?.[name] ?? {};
            return (
              <Table.Tr key={name}>
                <Table.Td>
                  <Mark result={{ status: passed === null ? status : 'ok', passed }} />
                </Table.Td>
                <Table.Th>{name}</Table.Th>
                <Table.Td>{formatScore(score)}</Table.Td>
                <Table.Td className="break lines" dir="auto">
                  {scores?.[name]?.error?.message ?? explanation}
                </Table.Td>
                <Table.Td c="dimmed">{scored_by}</Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Part>
  );
}
