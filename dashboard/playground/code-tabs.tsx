// The same call as code, in the language of the reader's choice.
import { Tabs } from '@mantine/core';
import { CodeBlock } from '../parts/code-block.tsx';
import { type Json, snippets } from './snippets.ts';

export function CodeTabs({ publicUrl, request }: { publicUrl: string; request: { [name: string]: Json } }) {
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
