// The playground: put a request together, see its PDF, take the same call away as code.

import {
  Button,
  Group,
  Kbd,
  NativeSelect,
  Paper,
  SegmentedControl,
  Stack,
  Switch,
  Tabs,
  Text,
  Title,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Play, X } from 'lucide-react';
import { type KeyboardEvent, useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { CodeBlock } from '../parts/code-block.tsx';
import { Failure } from '../parts/failure.tsx';
import { Loading } from '../parts/loading.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { CallFailed } from '../session/api.ts';
import { useAccount, useSession } from '../session/session.tsx';
import { EXAMPLES } from './examples.ts';
import { type FieldSchema, sectionsOf } from './fields.ts';
import { JsonView } from './json-view.tsx';
import { OptionsForm } from './options-form.tsx';
import { PageInput } from './page-input.tsx';
import classes from './playground.module.css';
import { callOf, complaints, type Draft, playgroundCallOf } from './request.ts';
import { ResultPanel } from './result.tsx';
import { type Json, KEY_VARIABLE, snippets } from './snippets.ts';
import { useDraft } from './use-draft.ts';
import { type RenderState, useRender } from './use-render.ts';

const NOTHING: ReadonlyMap<string, string> = new Map();

function CodeTabs({
  publicUrl,
  request,
}: {
  publicUrl: string;
  request: { [name: string]: Json };
}) {
  const all = snippets(publicUrl, request);
  return (
    <Tabs defaultValue="curl" keepMounted={false}>
      <Tabs.List mb="sm" aria-label="Language">
        {all.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {all.map(({ id, label, code }) => (
        <Tabs.Panel key={id} value={id}>
          <CodeBlock title={label} code={code} copyLabel={`Copy the ${label} code`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** The schema of a render request. Throws CallFailed. */
async function renderSchema(signal: AbortSignal): Promise<FieldSchema> {
  const answer = await fetch('/openapi.json', { signal }).catch(error => {
    if (signal.aborted) throw error;
    throw new CallFailed(
      0,
      'unreachable',
      'The server does not answer. Check your connection and try again.',
    );
  });
  if (!answer.ok)
    throw new CallFailed(
      answer.status,
      'internal',
      `The description of the API could not be read: ${answer.status}.`,
    );
  const { components } = (await answer.json()) as {
    components: { schemas: { RenderRequest: FieldSchema } };
  };
  return components.schemas.RenderRequest;
}

function ExampleSelect({ onPick }: { onPick(draft: Partial<Draft>): void }) {
  return (
    <NativeSelect
      label="Start from an example"
      w={260}
      value=""
      data={[{ value: '', label: 'Choose…' }, ...EXAMPLES.map(({ label }) => label)]}
      onChange={({ currentTarget }) => {
        const example = EXAMPLES.find(({ label }) => label === currentTarget.value);
        if (example) onPick(example.draft);
      }}
    />
  );
}

function ViewSwitch({ view, onChange }: { view: string; onChange(view: string): void }) {
  return (
    <SegmentedControl
      aria-label="How the request is shown"
      data={[
        { value: 'form', label: 'Form' },
        { value: 'json', label: 'JSON' },
      ]}
      value={view}
      onChange={onChange}
    />
  );
}

interface RunProps {
  sandbox: boolean;
  running: boolean;
  invalidJson: boolean;
  onSandbox(sandbox: boolean): void;
  onStart(): void;
  onCancel(): void;
}

function RunPanel({ sandbox, running, invalidJson, onSandbox, onStart, onCancel }: RunProps) {
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Switch
          label="Sandbox"
          description={
            sandbox
              ? 'SANDBOX is drawn across every page, and nothing is counted.'
              : 'Off: the PDF is clean, and a render that succeeds counts towards your plan.'
          }
          checked={sandbox}
          onChange={({ currentTarget }) => onSandbox(currentTarget.checked)}
        />
        <Group gap="sm">
          <Button
            leftSection={<Play size={16} aria-hidden />}
            aria-disabled={running || invalidJson}
            onClick={onStart}
          >
            Render
          </Button>
          {running && (
            <Button variant="default" leftSection={<X size={16} aria-hidden />} onClick={onCancel}>
              Cancel
            </Button>
          )}
          <Text size="xs" c="dimmed" visibleFrom="sm">
            <Kbd size="xs">Ctrl</Kbd> + <Kbd size="xs">Enter</Kbd>
          </Text>
          <Text role="status" size="sm" c="var(--mantine-color-error)">
            {invalidJson ? 'Not sent: fix the JSON first.' : ''}
          </Text>
        </Group>
      </Stack>
    </Paper>
  );
}

interface FormProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  complaints: ReadonlyMap<string, string>;
}

function RequestForm({ draft, onChange, complaints: complained }: FormProps) {
  const schema = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => renderSchema(signal),
    staleTime: Infinity,
  });
  const sections = useMemo(() => (schema.data ? sectionsOf(schema.data) : []), [schema.data]);
  return (
    <>
      <PageInput draft={draft} onChange={onChange} complaints={complained} />
      <Group justify="space-between">
        <Title order={2} size="h4">
          Options
        </Title>
        {Object.keys(draft.options).length > 0 && (
          <Button size="xs" variant="subtle" onClick={() => onChange({ options: {} })}>
            Clear all options
          </Button>
        )}
      </Group>
      {schema.isPending && <Loading rows={7} height={44} />}
      {schema.error && <Failure error={schema.error} retry={() => void schema.refetch()} />}
      {schema.data && (
        <OptionsForm
          sections={sections}
          options={draft.options}
          onChange={options => onChange({ options })}
          complaints={complained}
        />
      )}
    </>
  );
}

function ResultSection({ state }: { state: RenderState }) {
  const section = useRef<HTMLElement>(null);
  const running = state.is === 'running';
  useEffect(() => {
    // On a narrow screen the result lies far below the button.
    if (running) section.current?.scrollIntoView({ block: 'nearest' });
  }, [running]);
  return (
    <section aria-labelledby="playground-result" className={classes.result} ref={section}>
      <Title order={2} size="h4" id="playground-result" mb="xs">
        Result
      </Title>
      <ResultPanel state={state} />
    </section>
  );
}

function CodeSection({ draft }: { draft: Draft }) {
  const { publicUrl } = useSession().me.installation;
  const request = useDeferredValue(callOf(draft));
  return (
    <section aria-labelledby="playground-code">
      <Title order={2} size="h4" id="playground-code" mt="xl" mb="xs">
        The same call as code
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        It takes an API key from the environment variable {KEY_VARIABLE} and writes render.pdf.
      </Text>
      <CodeTabs publicUrl={publicUrl} request={request} />
    </section>
  );
}

export default function Playground() {
  const { me } = useSession();
  const account = useAccount();
  const [draft, setDraft] = useDraft(me.user.id);
  const { state, render, cancel } = useRender(account.id);
  const [view, setView] = useState('form');
  const [jsonError, setJsonError] = useState<string>();
  const jsonEditor = useRef<HTMLTextAreaElement>(null);
  /** What the service complained of is out of date as soon as something was changed. */
  const [tried, setTried] = useState<Draft>();
  const complained = useMemo(
    () => (state.is === 'failed' && tried === draft ? complaints(state.error.message) : NOTHING),
    [state, tried, draft],
  );
  const running = state.is === 'running';

  const start = () => {
    if (running) return;
    // The draft is still the last valid request, which is not what the editor shows.
    if (jsonError !== undefined) return jsonEditor.current?.focus();
    setTried(draft);
    void render(playgroundCallOf(draft));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    start();
  };
  const change = (part: Partial<Draft>) => setDraft(before => ({ ...before, ...part }));

  return (
    <>
      <PageHeader
        title="Playground"
        description="Try every option of a render, then take the same call away as code."
      />
      <div className={classes.columns}>
        <section aria-labelledby="playground-request" onKeyDown={onKeyDown}>
          <Stack>
            <Group justify="space-between" align="end">
              <Title order={2} size="h4" id="playground-request">
                Request
              </Title>
              <ExampleSelect onPick={change} />
            </Group>
            <ViewSwitch view={view} onChange={setView} />
            <RunPanel
              sandbox={draft.sandbox}
              running={running}
              invalidJson={jsonError !== undefined}
              onSandbox={sandbox => change({ sandbox })}
              onStart={start}
              onCancel={cancel}
            />
            {view === 'json' ? (
              <JsonView
                draft={draft}
                onChange={setDraftTo => setDraft(() => setDraftTo)}
                onError={setJsonError}
                editorRef={jsonEditor}
              />
            ) : (
              <RequestForm draft={draft} onChange={change} complaints={complained} />
            )}
          </Stack>
        </section>
        <ResultSection state={state} />
      </div>
      <CodeSection draft={draft} />
    </>
  );
}
