// How chat programs and editors get PDFs from here: what to paste in each, and who must reach whom for it.
import { List, Stack, Text } from '@mantine/core';
import { CodeBlock } from '../parts/code-block.tsx';
import { Fact } from '../parts/fact.tsx';
import { Panel } from '../parts/panel.tsx';

const json = (value: unknown) => JSON.stringify(value, undefined, 2);

/** What each takes, with the server's own address. */
const pasted = (url: string) => [
  { title: 'Claude Code', code: `claude mcp add --transport http pressroom ${url}` },
  { title: 'VS Code: .vscode/mcp.json', code: json({ servers: { pressroom: { type: 'http', url } } }) },
  { title: 'Cursor: ~/.cursor/mcp.json', code: json({ mcpServers: { pressroom: { url } } }) },
];

/** Programs on the web call from servers of their own, and take nothing but https. */
const reachedFromTheWeb = (url: string) => url.startsWith('https://') && !/^https:\/\/(localhost|127\.|\[::1\])/.test(url);

export function ChatPrograms({ url }: { url: string }) {
  return (
    <Panel
      title="From chat programs and editors"
      description="They get the tool render_pdf. No key goes into them: the program opens a page here, on which you allow it to render in the name of an account."
    >
      <Stack gap="sm">
        <Fact name="Address for MCP" value={url} />
        <List spacing="xs" size="sm">
          <List.Item>Claude: Settings, Connectors, Add custom connector, and this address.</List.Item>
          <List.Item>ChatGPT: Settings, Apps, with the developer mode on: Create, this address, and OAuth.</List.Item>
        </List>
        <Text size="sm">
          {reachedFromTheWeb(url)
            ? 'Both call from servers of their own, so the internet must reach this address.'
            : 'Both call from servers of their own and need an https address that the internet reaches, which this one is not. The programs below call from your machine.'}
        </Text>
        {pasted(url).map(({ title, code }) => (
          <CodeBlock key={title} title={title} code={code} copyLabel={`Copy for ${title.split(':')[0]}`} />
        ))}
      </Stack>
    </Panel>
  );
}
