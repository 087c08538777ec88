// The details of one render: outcome, phases, options, failed requests and console output.
import { Badge, Button, Code, Paper, Stack, Text } from '@mantine/core';
import { FlaskConical } from 'lucide-react';
import { Link, useParams } from 'wouter';
import type { RenderDetail } from '../../api/console/contract/accounts.ts';
import { WARNING_TEXTS } from '../../common/contract/warnings.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { DetailPage } from '../parts/detail-page.tsx';
import { FactList } from '../parts/facts.tsx';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { OutcomeBadge } from '../parts/outcome-badge.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Section } from '../parts/section.tsx';
import { When } from '../parts/when.tsx';
import { queryOf } from '../session/api.ts';
import { useAccount, useMay } from '../session/session.tsx';
import { useGet } from '../session/use-get.ts';
import { FailedRequests } from './failed-requests.tsx';
import { RenderError } from './render-error.tsx';
import classes from './render-screen.module.css';
import { callerOf, sourceOf } from './render-table.tsx';
import { Waterfall } from './waterfall.tsx';

function CountBadge({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Badge variant="default" radius="sm">
      {formatCount(count)}
    </Badge>
  );
}

function ConsoleLines({ lines }: { lines: RenderDetail['console'] }) {
  if (lines.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No console output.
      </Text>
    );
  return (
    <Paper withBorder>
      <ol className={classes.lines}>
        {lines.map(({ level, text }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a log that does not change
          <li key={index} data-level={level}>
            <span className={classes.level}>{level}</span>
            <span className={classes.text}>{text}</span>
          </li>
        ))}
      </ol>
    </Paper>
  );
}

export default function Render() {
  const { id = '' } = useParams<{ id: string }>();
  const account = useAccount();
  const render = useGet<RenderDetail>(
    ['render', account.id, id],
    `/accounts/${account.id}/renders/${encodeURIComponent(id)}`,
    // A finished render does not change.
    { staleTime: Number.POSITIVE_INFINITY },
  );
  return (
    <DetailPage query={render} href="/renders" back="All renders" title="Render" id={id}>
      {data => <Detail render={data} />}
    </DetailPage>
  );
}

function Detail({ render }: { render: RenderDetail }) {
  const {
    id,
    outcome,
    url,
    sandbox,
    counted,
    at,
    totalMs,
    pages,
    bytes,
    user,
    options,
    console: lines,
  } = render;
  const mayPlay = useMay('playground.render');
  const given = Object.entries(options);
  return (
    <>
      <PageHeader
        title="Render"
        mark={<OutcomeBadge outcome={outcome} rejected={render.rejected} />}
        description={sourceOf(render)}
        actions={
          <>
            <CopyButton text={id} label="Copy request ID" />
            {url && mayPlay && (
              <Button
                size="xs"
                variant="default"
                component={Link}
                href={`/playground${queryOf({ url })}`}
                leftSection={<FlaskConical size={14} aria-hidden />}
              >
                Open in playground
              </Button>
            )}
          </>
        }
      />
      {outcome === 'error' && (
        <RenderError code={render.code} reason={render.reason} message={render.message} />
      )}
      <Stack gap="xl">
        <FactList
          facts={[
            ['Finished', <When key="at" at={at} exact />],
            ['Duration', formatMs(totalMs)],
            ['Pages', pages === null ? null : formatCount(pages)],
            ['Size', bytes === null ? null : formatBytes(bytes)],
            ['Requested by', user ? `${callerOf(render)}, ${user}` : callerOf(render)],
            ['Counts toward usage', counted ? 'Yes' : sandbox ? 'No (sandbox)' : 'No'],
            ['Title', render.title],
            ['Reference', render.reference],
            ['Warnings', render.warnings.map(word => WARNING_TEXTS[word]).join(' ') || null],
            ['Request ID', <Code key="id">{id}</Code>],
          ]}
        />
        <Section title="Phases">
          <Waterfall timings={render.timings} totalMs={totalMs} />
        </Section>
        <Section title="Options">
          {given.length > 0 ? (
            <FactList
              facts={given.map(([name, value]) => [name, <code key={name}>{String(value)}</code>])}
            />
          ) : (
            <Text size="sm" c="dimmed">
              No options set (defaults used).
            </Text>
          )}
        </Section>
        <Section title="Failed requests" actions={<CountBadge count={render.resourceErrors} />}>
          <FailedRequests resources={render.resources} count={render.resourceErrors} />
        </Section>
        <Section title="Console output" actions={<CountBadge count={lines.length} />}>
          <ConsoleLines lines={lines} />
        </Section>
      </Stack>
    </>
  );
}
