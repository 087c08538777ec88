// How a program gets to Pressroom: where it is, what it needs, a first call, and the way of chat
// programs.
import { Anchor, List, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { CodeBlock } from '../parts/code-block.tsx';
import { Fact } from '../parts/fact.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Panel } from '../parts/panel.tsx';
import { KEY_VARIABLE, snippets } from '../playground/snippets.ts';
import { useMay, useSession } from '../session/session.tsx';
import { ChatPrograms } from './chat-programs.tsx';

export default function ConnectScreen() {
  const { me } = useSession();
  const { publicUrl, mcpUrl } = me.installation;
  const mayMakeKeys = useMay('keys.write');
  const mayRender = useMay('playground.render');
  const [curl] = snippets(publicUrl, { html: '<h1>Hello</h1>' });
  return (
    <>
      <PageHeader title="Connect" description="How your programs get PDFs from here." />
      <Stack maw={720}>
        <Panel
          title="Where"
          description="Every call goes to this address. HTML or a URL goes in as JSON, the PDF itself comes back."
        >
          <Stack gap="sm">
            <Fact name="Base URL" value={publicUrl} />
            <Fact name="Endpoint" value={`${publicUrl}/v1/render`} />
          </Stack>
        </Panel>
        <Panel
          title="With what"
          description="An API key says which account asks. It goes into the header Authorization, and into no web page."
        >
          {mayMakeKeys ? (
            <Anchor component={Link} href="/keys" underline="always">
              Create an API key
            </Anchor>
          ) : (
            <Text size="sm">
              Your role cannot create keys: ask an owner, an admin or a developer of the account.
            </Text>
          )}
        </Panel>
        <Panel
          title="A first call"
          description={`With the key in the environment variable ${KEY_VARIABLE}:`}
        >
          <CodeBlock title="curl" code={curl!.code} copyLabel="Copy the curl code" />
          {mayRender && (
            <Text size="sm" mt="sm">
              The{' '}
              <Anchor component={Link} href="/playground" underline="always" inherit>
                playground
              </Anchor>{' '}
              makes the same call for Node, Python, Go and PHP, with any option.
            </Text>
          )}
        </Panel>
        {mcpUrl &&
          (mayRender ? (
            <ChatPrograms url={mcpUrl} />
          ) : (
            <Panel title="From chat programs and editors">
              <Text size="sm">
                Your role cannot render, so no program can in your name: ask an owner or an admin of
                the account for the role of a developer.
              </Text>
            </Panel>
          ))}
        <Panel title="Described">
          <List spacing="xs" size="sm">
            <List.Item>
              <Anchor href="/docs" underline="always" inherit>
                Documentation
              </Anchor>
              : every option, every error, to be tried on the page.
            </List.Item>
            <List.Item>
              <Anchor href="/openapi.json" underline="always" inherit>
                /openapi.json
              </Anchor>
              : the same for programs (OpenAPI 3.1).
            </List.Item>
          </List>
        </Panel>
      </Stack>
    </>
  );
}
