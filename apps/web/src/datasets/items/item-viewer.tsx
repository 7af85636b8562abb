import { Badge, Box, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import { useState } from 'react';
import { Icon } from '../../ui/icons.tsx';
import { Part } from '../../ui/layout/page.tsx';
import { imageAddress, ShowImages } from '../../ui/remote-images.tsx';
import { CopyText, JsonText } from '../../ui/text/copy-action.tsx';
import { Dimmed } from '../../ui/text/dimmed.ts';
import { plainText } from '../../ui/text/formats.ts';
import { RichText, Value } from '../../ui/text/rich-text.tsx';
import { AssetList, remoteImageOf } from './asset-list.tsx';
import { assetsOf, choicesOf, inputOf, messagesOf, otherInputsOf, tagsOf, without } from './item-reading.ts';
import { Members, Messages, Tools } from './messages.tsx';

/** What the viewer shows by name. The exact JSON has everything. */
const SHOWN = ['id', 'type', 'inputs', 'answer', 'criteria', 'checker', 'assets', 'tags'];

export function ItemViewer(props: {
  readonly item: JsonObject;
  /** Absent for an item that is not stored. */
  readonly datasetId?: string | undefined;
  readonly section?: string;
  readonly orderIndex?: number;
  readonly hash?: string;
}) {
  const { item, datasetId, section, orderIndex, hash } = props;
  const [view, setView] = useState('item');
  const id = getMember(item, 'id');
  const type = plainText(getMember(item, 'type'), 60) || 'freeform';
  return (
    <Stack gap="md" p="md">
      <Group justify="space-between" gap="xs" align="flex-start">
        <Box miw={0}>
          <Title order={2} size="h5" className="break">
            {id === undefined ? (orderIndex === undefined ? 'Item' : `Item ${orderIndex}`) : plainText(id)}
          </Title>
          <Group gap={6} mt={4}>
            <Badge size="sm" variant="light">
              {type}
            </Badge>
            {tagsOf(item).map((tag) => (
              <Badge key={tag} size="sm" variant="default" dir="auto">
                {tag}
              </Badge>
            ))}
            {section !== undefined && (
              <Dimmed size="xs">
                {section}, {orderIndex}
              </Dimmed>
            )}
          </Group>
        </Box>
        <SegmentedControl
          size="xs"
          value={view}
          onChange={setView}
          aria-label="View of the item"
          data={[
            { value: 'item', label: 'Item' },
            { value: 'json', label: 'Exact JSON' },
          ]}
        />
      </Group>
      {hash !== undefined && <CopyText text={hash} length={16} label="item hash" />}
      {view === 'json' ? (
        <JsonText value={item} label="item" />
      ) : (
        <ItemParts item={item} datasetId={datasetId} />
      )}
    </Stack>
  );
}

function ItemParts({ item, datasetId }: Parameters<typeof Question>[0]) {
  const answer = getMember(item, 'answer');
  const criteria = getMember(item, 'criteria');
  const checker = getMember(item, 'checker');
  const meta = getMember(item, 'meta');
  const stated = inputOf(item, 'tools');
  const tools = Array.isArray(stated) ? stated : [];
  const hidden = isJsonObject(meta) ? [...SHOWN, 'meta'] : SHOWN;
  const more = { ...otherInputsOf(item), ...without(item, hidden) };
  return (
    <>
      <Question item={item} datasetId={datasetId} />
      <Part order={3} title={`Tools (${tools.length})`}>
        {tools.length > 0 && <Tools tools={tools} />}
      </Part>
      <Part order={3} title="Answer">
        {answer !== undefined && <Value value={answer} isCode={getMember(item, 'type') === 'code'} />}
      </Part>
      <Part order={3} title="Criteria">
        {Array.isArray(criteria) && criteria.length > 0 && (
          <Box component="ol" m={0} ps={20}>
            {criteria.map((one, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: criteria have an order and nothing else
              <li key={index}>{isJsonObject(one) ? <Members value={one} /> : <Value value={one} />}</li>
            ))}
          </Box>
        )}
      </Part>
      <Part order={3} title="Checker">
        {checker !== undefined && checker !== null && <Value value={checker} />}
      </Part>
      <Part order={3} title="Metadata">
        {isJsonObject(meta) && Object.keys(meta).length > 0 && <Members value={meta} />}
      </Part>
      <Part order={3} title="More">
        {Object.keys(more).length > 0 && <Members value={more} />}
      </Part>
    </>
  );
}

export function Question(props: { readonly item: JsonObject; readonly datasetId: string | undefined }) {
  const { item, datasetId } = props;
  const system = inputOf(item, 'system_prompt');
  const prompt = inputOf(item, 'prompt');
  const messages = messagesOf(item);
  const choices = choicesOf(item);
  const assets = assetsOf(item);
  const files = (messages ?? []).flatMap(({ parts }) => parts.filter((part) => part.kind === 'file'));
  const images = [
    ...files.map(({ url, type }) => imageAddress(url, type)),
    ...assets.map(({ entry }) => remoteImageOf(entry, datasetId)),
  ];
  return (
    <Stack gap="xs">
      <ShowImages addresses={images.filter((address) => address !== undefined)} />
      <Part order={3} title="System prompt">
        {typeof system === 'string' && <RichText text={system} />}
      </Part>
      <Part order={3} title="Prompt">
        {prompt !== undefined && <Value value={prompt} />}
      </Part>
      {messages !== undefined && <Messages messages={messages} />}
      <Part order={3} title="Choices">
        {choices.length > 0 && <Choices choices={choices} />}
      </Part>
      <AssetList assets={assets} datasetId={datasetId} />
    </Stack>
  );
}

function Choices({ choices }: { readonly choices: ReturnType<typeof choicesOf> }) {
  return (
    <ul className="plain-list">
      {choices.map(({ text, label, isRight }) => (
        <li key={`${label} ${text}`}>
          <Group
            gap={8}
            wrap="nowrap"
            align="flex-start"
            px={8}
            py={4}
            className={isRight ? 'right-choice' : undefined}
          >
            <Text span size="sm" fw={600}>
              {label}
            </Text>
            <Text span size="sm" dir="auto" className="break lines">
              {text}
            </Text>
            {isRight && <Icon name="check" size={16} aria-label="the answer" />}
          </Group>
        </li>
      ))}
    </ul>
  );
}
