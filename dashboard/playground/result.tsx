// What came of a render: the PDF with its figures, or what went wrong and why.
import { Alert, Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { CircleAlert, Download, ExternalLink, FileText } from 'lucide-react';
import { Link } from 'wouter';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { Phases } from './phases.tsx';
import classes from './playground.module.css';
import type { RenderedPdf, RenderState } from './use-render.ts';

function Done({ rendered }: { rendered: RenderedPdf }) {
  const { pdfUrl, bytes, pages, phases, usage, sandbox, requestId, tookMs } = rendered;
  const facts: [string, string][] = [
    ['Pages', pages === undefined ? 'unknown' : formatCount(pages)],
    ['Size', formatBytes(bytes)],
    ['Time', formatMs(tookMs)],
    [
      'Counted',
      sandbox
        ? 'No, sandbox'
        : usage === undefined
          ? 'Yes'
          : `No. ${formatCount(usage)} this period`,
    ],
  ];
  return (
    <Stack>
      <dl className={classes.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <iframe className={classes.preview} src={`${pdfUrl}#navpanes=0`} title="The rendered PDF" />
      <Group gap="xs">
        <Button
          component="a"
          href={pdfUrl}
          target="_blank"
          variant="default"
          size="xs"
          leftSection={<ExternalLink size={14} aria-hidden />}
        >
          Open in a new tab
        </Button>
        <Button
          component="a"
          href={pdfUrl}
          download="render.pdf"
          variant="default"
          size="xs"
          leftSection={<Download size={14} aria-hidden />}
        >
          Save the PDF
        </Button>
        {requestId && (
          <Button component={Link} href={`/renders/${requestId}`} variant="subtle" size="xs">
            See it in the log
          </Button>
        )}
      </Group>
      {phases.length > 0 && <Phases phases={phases} />}
    </Stack>
  );
}

function Failed({ error, tookMs }: Extract<RenderState, { is: 'failed' }>) {
  return (
    <Alert
      color="red"
      variant="light"
      title="No PDF this time"
      icon={<CircleAlert size={18} aria-hidden />}
    >
      <Group gap="xs" mb="xs">
        <Badge color="red" variant="filled" tt="none">
          {error.code}
        </Badge>
        {error.reason && (
          <Badge variant="default" tt="none">
            {error.reason}
          </Badge>
        )}
        <Text size="xs">after {formatMs(tookMs)}</Text>
      </Group>
      <Text size="sm">
        <TextWithCode>{error.message}</TextWithCode>
      </Text>
      {error.requestId && (
        <Text size="xs" mt={6}>
          Request id: <Code>{error.requestId}</Code>
        </Text>
      )}
    </Alert>
  );
}

const SAYS: Record<RenderState['is'], string> = {
  idle: '',
  running: 'Rendering…',
  cancelled: 'Cancelled.',
  failed: 'The render failed.',
  done: 'The PDF is here.',
};

export function ResultPanel({ state }: { state: RenderState }) {
  return (
    <Stack>
      <Text role="status" size="sm" c="dimmed">
        {SAYS[state.is]}
      </Text>
      {state.is === 'done' && <Done rendered={state.rendered} />}
      {state.is === 'failed' && <Failed {...state} />}
      {state.is !== 'done' && state.is !== 'failed' && (
        <div className={classes.blank}>
          <div>
            <FileText size={32} aria-hidden />
            <Text size="sm">
              {state.is === 'running'
                ? 'The PDF appears here.'
                : 'Press Render, and the PDF appears here.'}
            </Text>
          </div>
        </div>
      )}
    </Stack>
  );
}
