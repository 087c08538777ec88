// How chat programs and editors get PDFs from here: what to paste in each, and who must reach whom
// for it.
import { Button, Code, Group, List, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { CodeBlock } from '../parts/code-block.tsx';
import { Fact } from '../parts/fact.tsx';
import { Panel } from '../parts/panel.tsx';

/** The name of this installation in an editor. */
const NAME = 'pressroom';

/** Form: https://code.visualstudio.com/api/extension-guides/ai/mcp (MCP URL handler). */
const vsCodeLink = (url: string): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', url }))}`;

/**
 * Form: https://cursor.com/docs/mcp/install-links. Base64 has signs that mean something else in a
 * query.
 */
const cursorLink = (url: string): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`;

const json = (value: unknown) => JSON.stringify(value, undefined, 2);

interface Program {
  name: string;
  /** What is pasted goes there: a file, or the terminal. */
  where: string;
  code: string;
  /** Has the program add it by itself. */
  install?: string;
  afterwards: ReactNode;
}

/** Those that call from the person's own machine, with the server's own address. */
const programs = (url: string): Program[] => [
  {
    name: 'Claude Code',
    where: 'in a terminal',
    code: `claude mcp add --transport http --scope user pressroom ${url}`,
    afterwards: (
      <>
        Then type <Code>/mcp</Code> in it, choose pressroom, and authenticate.
      </>
    ),
  },
  {
    name: 'VS Code',
    where: '.vscode/mcp.json',
    code: json({ servers: { pressroom: { type: 'http', url } } }),
    install: vsCodeLink(url),
    afterwards:
      'Then start it, above its lines in that file or by “MCP: List Servers”, and let it sign in.',
  },
  {
    name: 'Cursor',
    where: '~/.cursor/mcp.json',
    code: json({ mcpServers: { pressroom: { url } } }),
    install: cursorLink(url),
    afterwards: 'Then connect it in Cursor’s settings, among the MCP servers.',
  },
];

/** Programs on the web call from servers of their own, and take nothing but https. */
const reachedFromTheWeb = (url: string) =>
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

export function ChatPrograms({ url }: { url: string }) {
  return (
    <Panel
      title="From chat programs and editors"
      description="They get the tool render_pdf. No key goes into them: the program opens a page here, on which you allow it to render in the name of an account."
    >
      <Stack gap="sm">
        <Fact name="Address for MCP" value={url} />
        <Part title="On your machine">
          <Text size="sm">
            These call from where they run, so it is enough that your machine reaches the address.
          </Text>
          {programs(url).map(({ name, where, code, install, afterwards }) => (
            <Stack key={name} gap={6} mb="sm">
              {install && (
                <Group gap="xs">
                  <Button component="a" href={install} size="xs" variant="light">
                    Add it to {name}
                  </Button>
                  <Text size="sm">or paste:</Text>
                </Group>
              )}
              <CodeBlock title={`${name}: ${where}`} code={code} copyLabel={`Copy for ${name}`} />
              <Text size="sm">{afterwards}</Text>
            </Stack>
          ))}
        </Part>
        <Part title="Claude and ChatGPT">
          <Text size="sm">
            {reachedFromTheWeb(url)
              ? 'Both call from servers of their own, the desktop and phone apps too: the internet must reach this address, and everybody trust its certificate.'
              : 'Both call from servers of their own, the desktop and phone apps too. They need an https address that the internet reaches, which this one is not.'}
          </Text>
          <List spacing="xs" size="sm">
            <List.Item>
              Claude, on the web or in the desktop app: Customize, Connectors, +, Add custom
              connector, and this address. In a team its owner does so first, in the organization’s
              settings.
            </List.Item>
            <List.Item>
              ChatGPT, on the web: Plugins, +, Add custom MCP server, this address as the server
              URL, and OAuth.
            </List.Item>
          </List>
        </Part>
        <Part title="In a closed network">
          <Text size="sm">
            Programs name themselves by registering here, or by a document of theirs on the web,
            which this server fetches. Where it does not reach the web, whoever runs it sets{' '}
            <Code>PRESSROOM_MCP_CIMD=off</Code>, and all register. With{' '}
            <Code>PRESSROOM_MCP_DCR=off</Code> as well, no new program can connect.
          </Text>
        </Part>
      </Stack>
    </Panel>
  );
}
