// The playground: build a request, preview its PDF, copy the request as code.
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
import { type Json, KEY_VARIABLE, snippets } from '../../common/contract/snippets.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { CallFailed } from '../session/api.ts';
import { useAccount, useSession } from '../session/session.tsx';
import { EXAMPLES } from './examples.ts';
import { completeSchema, type FieldSchema, type PublishedSchema, sectionsOf } from './fields.ts';
import { JsonView, type TypedJson } from './json-view.tsx';
import { OptionsForm } from './options-form.tsx';
import { PageInput } from './page-input.tsx';
import classes from './playground.module.css';
import { callOf, type Draft, fieldErrorsOf, playgroundCallOf } from './request.ts';
import { ResultPanel } from './result.tsx';
import { useDraft } from './use-draft.ts';
import { type RenderState, useRender } from './use-render.ts';

const NO_ERRORS: ReadonlyMap<string, string> = new Map();

function CodeTabs({
  publicUrl,
  request,
}: {
  publicUrl: string;
  request: { [name: string]: Json };
}) {
  const all = snippets(`${publicUrl}/v1/render`, request);
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
          <CodeBlock title={label} code={code} copyLabel={`Copy ${label} code`} />
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** The schema of a render request. Throws CallFailed. */
async function renderSchema(signal: AbortSignal): Promise<FieldSchema> {
  const response = await fetch('/openapi.json', { signal }).catch(error => {
    if (signal.aborted) throw error;
    throw new CallFailed(
      0,
      'unreachable',
      'Could not reach the server. Check your connection and try again.',
    );
  });
  if (!response.ok)
    throw new CallFailed(
      response.status,
      'internal',
      `Could not load the OpenAPI document: the server returned status ${response.status}.`,
    );
  const { components } = (await response.json()) as {
    components: { schemas: { RenderRequest: PublishedSchema } };
  };
  return completeSchema(components.schemas.RenderRequest, components.schemas);
}

function ExampleSelect({ onPick }: { onPick(draft: Partial<Draft>): void }) {
  return (
    <NativeSelect
      label="Example"
      w={260}
      value=""
      data={[{ value: '', label: 'Select an example…' }, ...EXAMPLES.map(({ label }) => label)]}
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
      aria-label="Request view"
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
              ? 'Adds a SANDBOX watermark. Doesn’t count toward usage.'
              : 'Off: no watermark. Successful renders count toward usage.'
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
            {invalidJson ? 'Fix the JSON errors to render.' : ''}
          </Text>
        </Group>
      </Stack>
    </Paper>
  );
}

interface FormProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  fieldErrors: ReadonlyMap<string, string>;
}

function RequestForm({ draft, onChange, fieldErrors }: FormProps) {
  const schema = useQuery({
    queryKey: ['openapi'],
    queryFn: ({ signal }) => renderSchema(signal),
    staleTime: Infinity,
  });
  const sections = useMemo(() => (schema.data ? sectionsOf(schema.data) : []), [schema.data]);
  return (
    <>
      <PageInput draft={draft} onChange={onChange} fieldErrors={fieldErrors} />
      <Group justify="space-between">
        <Title order={2} size="h4">
          Options
        </Title>
        {Object.keys(draft.options).length > 0 && (
          <Button size="xs" variant="subtle" onClick={() => onChange({ options: {} })}>
            Clear options
          </Button>
        )}
      </Group>
      <QueryState query={schema} rows={7} height={44} />
      {schema.data && (
        <OptionsForm
          sections={sections}
          options={draft.options}
          onChange={options => onChange({ options })}
          fieldErrors={fieldErrors}
        />
      )}
    </>
  );
}

function ResultSection({ state }: { state: RenderState }) {
  const section = useRef<HTMLElement>(null);
  const running = state.is === 'running';
  useEffect(() => {
    // On narrow screens the result is far below the button.
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
        Code
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        The code reads your API key from the environment variable {KEY_VARIABLE} and saves
        render.pdf.
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
  const [typed, setTyped] = useState<TypedJson>();
  const jsonError = view === 'json' ? typed?.error : undefined;
  const jsonEditor = useRef<HTMLTextAreaElement>(null);
  // Field errors apply only to the draft that was sent.
  const [sent, setSent] = useState<Draft>();
  const fieldErrors = useMemo(
    () =>
      state.is === 'failed' && sent === draft ? fieldErrorsOf(state.error.message) : NO_ERRORS,
    [state, sent, draft],
  );
  const running = state.is === 'running';

  const start = () => {
    if (running) return;
    // The draft is the last valid request, not the text in the editor.
    if (jsonError !== undefined) return jsonEditor.current?.focus();
    setSent(draft);
    void render(playgroundCallOf(draft));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    start();
  };
  // Without `json`, the JSON view shows the changed draft: a typed text would contradict it. An
  // invalid text stays when the switch changes `sandbox`, because it exists only here.
  const change = (part: Partial<Draft>, json?: TypedJson) => {
    setDraft(before => ({ ...before, ...part }));
    setTyped(json);
  };

  return (
    <>
      <PageHeader
        title="Playground"
        description="Try every option, then copy the request as code."
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
              sandbox={draft.sandbox ?? true}
              running={running}
              invalidJson={jsonError !== undefined}
              onSandbox={sandbox => change({ sandbox }, typed?.error ? typed : undefined)}
              onStart={start}
              onCancel={cancel}
            />
            {view === 'json' ? (
              <JsonView
                draft={draft}
                typed={typed}
                onChange={change}
                onInvalid={setTyped}
                editorRef={jsonEditor}
              />
            ) : (
              <RequestForm draft={draft} onChange={change} fieldErrors={fieldErrors} />
            )}
          </Stack>
        </section>
        <ResultSection state={state} />
      </div>
      <CodeSection draft={draft} />
    </>
  );
}
