// What is to be rendered: a document typed in, or the address of a page.
import { Tabs, Textarea, TextInput } from '@mantine/core';
import classes from './playground.module.css';
import type { Draft } from './request.ts';

interface Props {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  complaints: ReadonlyMap<string, string>;
}

export function PageInput({ draft, onChange, complaints }: Props) {
  return (
    <Tabs
      value={draft.source}
      onChange={source => onChange({ source: source as Draft['source'] })}
      keepMounted={false}
    >
      <Tabs.List mb="sm" aria-label="What to render">
        <Tabs.Tab value="html">HTML</Tabs.Tab>
        <Tabs.Tab value="url">URL</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="html">
        <Textarea
          label="HTML document"
          description="Give styles and pictures inline, or by addresses that begin with https://."
          className={classes.editor}
          rows={16}
          value={draft.html}
          error={complaints.get('html')}
          spellCheck={false}
          autoComplete="off"
          autoCapitalize="off"
          onChange={({ currentTarget }) => onChange({ html: currentTarget.value })}
        />
      </Tabs.Panel>
      <Tabs.Panel value="url">
        <TextInput
          type="url"
          inputMode="url"
          label="Address of the page"
          description="A public page, http or https."
          placeholder="https://example.com/"
          value={draft.url}
          error={complaints.get('url')}
          spellCheck={false}
          autoComplete="off"
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
        />
      </Tabs.Panel>
    </Tabs>
  );
}
