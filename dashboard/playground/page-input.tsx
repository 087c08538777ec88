// The source of the render: an HTML document or a URL.
import { Tabs, Textarea, TextInput } from '@mantine/core';
import classes from './playground.module.css';
import type { Draft } from './request.ts';

interface Props {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
  fieldErrors: ReadonlyMap<string, string>;
}

export function PageInput({ draft, onChange, fieldErrors }: Props) {
  return (
    <Tabs
      value={draft.source}
      onChange={source => onChange({ source: source as Draft['source'] })}
      keepMounted={false}
    >
      <Tabs.List mb="sm" aria-label="Source">
        <Tabs.Tab value="html">HTML</Tabs.Tab>
        <Tabs.Tab value="url">URL</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="html">
        <Textarea
          label="HTML document"
          description="Inline your CSS and images, or use https:// URLs."
          className={classes.editor}
          rows={16}
          value={draft.html}
          error={fieldErrors.get('html')}
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
          label="Page URL"
          description="A public http or https URL."
          placeholder="https://example.com/"
          value={draft.url}
          error={fieldErrors.get('url')}
          spellCheck={false}
          autoComplete="off"
          onChange={({ currentTarget }) => onChange({ url: currentTarget.value })}
        />
      </Tabs.Panel>
    </Tabs>
  );
}
