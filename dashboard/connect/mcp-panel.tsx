// MCP setup of AI assistants and editors: what to paste where, and the network each needs.
import { Button, Code, Group, List, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CodeBlock } from '../parts/code-block.tsx';
import { Fact } from '../parts/fact.tsx';
import { Panel } from '../parts/panel.tsx';

export const MCP_TITLE = 'AI assistants and editors';

/** The name of the MCP server in an editor. */
const NAME = 'pressroom';

/** Form: https://code.visualstudio.com/api/extension-guides/ai/mcp (MCP URL handler). */
const vsCodeLink = (url: string): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', url }))}`;

/** Form: https://cursor.com/docs/mcp/install-links. Base64 needs escaping in a query. */
const cursorLink = (url: string): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`;

const json = (value: unknown) => JSON.stringify(value, undefined, 2);

interface Client {
  name: string;
  /** Where to paste the code: a file or the terminal. */
  where: string;
  code: string;
  /** A link that adds the server in one click. */
  install?: string;
  nextStep: ReactNode;
}

/** MCP clients that run on the user's machine. */
const localClients = (url: string): Client[] => [
  {
    name: 'Claude Code',
    where: 'terminal',
    code: `claude mcp add --transport http --scope user pressroom ${url}`,
    nextStep: (
      <>
        Then run <Code>/mcp</Code> in Claude Code, select pressroom and choose Authenticate.
      </>
    ),
  },
  {
    name: 'VS Code',
    where: '.vscode/mcp.json',
    code: json({ servers: { pressroom: { type: 'http', url } } }),
    install: vsCodeLink(url),
    nextStep: 'Then click Start above the entry (or run “MCP: List Servers”) and sign in.',
  },
  {
    name: 'Cursor',
    where: '~/.cursor/mcp.json',
    code: json({ mcpServers: { pressroom: { url } } }),
    install: cursorLink(url),
    nextStep: 'Then open the MCP servers in Cursor’s settings and connect pressroom.',
  },
];

/** Cloud clients accept only https URLs that are reachable from the internet. */
const isPublicUrl = (url: string) =>
  url.startsWith('https://') && !/^https:\/\/(localhost|127\.|\[::1\])/.test(url);

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Stack gap="xs" mt="xs">
      <Title order={3} size="h5">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

export function McpPanel({ url }: { url: string }) {
  return (
    <Panel
      title={MCP_TITLE}
      description="AI assistants and editors get a render_pdf tool. No API key needed: you approve access in the browser."
    >
      <Stack gap="sm">
        <Fact name="MCP server URL" value={url} copyLabel="Copy MCP server URL" />
        <Part title="On your machine">
          <Text size="sm">
            These run on your machine, so they only need to reach this URL locally.
          </Text>
          {localClients(url).map(({ name, where, code, install, nextStep }) => (
            <Stack key={name} gap={6} mb="sm">
              {install && (
                <Group gap="xs">
                  <Button component="a" href={install} size="xs" variant="light">
                    Add to {name}
                  </Button>
                  <Text size="sm">or paste this configuration:</Text>
                </Group>
              )}
              <CodeBlock title={`${name}: ${where}`} code={code} copyLabel={`Copy for ${name}`} />
              <Text size="sm">{nextStep}</Text>
            </Stack>
          ))}
        </Part>
        <Part title="Claude and ChatGPT">
          <Text size="sm">
            {isPublicUrl(url)
              ? 'Claude and ChatGPT call from the cloud, including their desktop and mobile apps. This URL must be reachable from the internet and have a publicly trusted certificate.'
              : 'Claude and ChatGPT call from the cloud, including their desktop and mobile apps. They need a public https URL, and this URL is not public.'}
          </Text>
          <List spacing="xs" size="sm">
            <List.Item>
              <b>Claude</b> (web or desktop): open Customize → Connectors → + → Add custom connector
              and enter the MCP server URL. On team plans, an organization owner must add the
              connector first.
            </List.Item>
            <List.Item>
              <b>ChatGPT</b> (web): open Plugins → + → Add custom MCP server, enter the MCP server
              URL and select OAuth.
            </List.Item>
          </List>
        </Part>
        <Part title="Private networks">
          <Text size="sm">
            Clients register here dynamically (DCR) or present a client metadata document (CIMD),
            which the server downloads. If the server has no internet access, your administrator can
            set <Code>PRESSROOM_MCP_CIMD=off</Code>; clients then use DCR. If{' '}
            <Code>PRESSROOM_MCP_DCR=off</Code> is set as well, no new clients can connect.
          </Text>
        </Part>
      </Stack>
    </Panel>
  );
}
