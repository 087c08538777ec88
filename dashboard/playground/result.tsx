// The result of a render: the PDF with its figures, or the error.
import { Alert, Badge, Button, Code, Group, Stack, Text } from '@mantine/core';
import { CircleAlert, Download, ExternalLink, FileText } from 'lucide-react';
import { Link } from 'wouter';
import { formatBytes, formatCount, formatMs } from '../parts/format.ts';
import { TextWithCode } from '../parts/text-with-code.tsx';
import { Phases } from './phases.tsx';
import classes from './playground.module.css';
import type { RenderedPdf, RenderState } from './use-render.ts';

function Done({ rendered }: { rendered: RenderedPdf }) {
  const { pdfUrl, filename, bytes, pages, phases, usage, sandbox, requestId, tookMs } = rendered;
  const facts: [string, string][] = [
    ['Pages', pages === undefined ? 'Unknown' : formatCount(pages)],
    ['Size', formatBytes(bytes)],
    ['Duration', formatMs(tookMs)],
    [
      'Usage',
      sandbox
        ? 'Not counted'
        : usage === undefined
          ? 'Counted'
          : `${formatCount(usage)} this period`,
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
      <iframe className={classes.preview} src={`${pdfUrl}#navpanes=0`} title="Rendered PDF" />
      <Group gap="xs">
        <Button
          component="a"
          href={pdfUrl}
          target="_blank"
          variant="default"
          size="xs"
          leftSection={<ExternalLink size={14} aria-hidden />}
        >
          Open in new tab
        </Button>
        <Button
          component="a"
          href={pdfUrl}
          download={filename}
          variant="default"
          size="xs"
          leftSection={<Download size={14} aria-hidden />}
        >
          Download PDF
        </Button>
        {requestId && (
          <Button component={Link} href={`/renders/${requestId}`} variant="subtle" size="xs">
            View details
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
      title="Render failed"
      icon={<CircleAlert size={18} aria-hidden />}
    >
      <Group gap="xs" mb="xs">
        <Badge color="red" variant="filled">
          {error.code}
        </Badge>
        {error.reason && <Badge variant="default">{error.reason}</Badge>}
        <Text size="xs">after {formatMs(tookMs)}</Text>
      </Group>
      <Text size="sm">
        <TextWithCode>{error.message}</TextWithCode>
      </Text>
      {error.requestId && (
        <Text size="xs" mt={6}>
          Request ID: <Code>{error.requestId}</Code>
        </Text>
      )}
    </Alert>
  );
}

const STATUS: Record<RenderState['is'], string> = {
  idle: '',
  running: 'Rendering…',
  canceled: 'Render canceled',
  failed: 'Render failed',
  done: 'PDF ready',
};

export function ResultPanel({ state }: { state: RenderState }) {
  return (
    <Stack>
      <Text role="status" size="sm" c="dimmed">
        {STATUS[state.is]}
      </Text>
      {state.is === 'done' && <Done rendered={state.rendered} />}
      {state.is === 'failed' && <Failed {...state} />}
      {state.is !== 'done' && state.is !== 'failed' && (
        <div className={classes.blank}>
          <div>
            <FileText size={32} aria-hidden />
            <Text size="sm">
              {state.is === 'running'
                ? 'Your PDF will appear here.'
                : 'Click Render to preview your PDF.'}
            </Text>
          </div>
        </div>
      )}
    </Stack>
  );
}
