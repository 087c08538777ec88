// The Connect screen: base URL, authentication, a first request, MCP setup, API reference.
import { Anchor, List, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import { KEY_VARIABLE, snippets } from '../../common/contract/snippets.ts';
import { CodeBlock } from '../parts/code-block.tsx';
import { Fact } from '../parts/fact.tsx';
import { PageHeader } from '../parts/page-header.tsx';
import { Panel } from '../parts/panel.tsx';
import { useMay, useSession } from '../session/session.tsx';
import { MCP_TITLE, McpPanel } from './mcp-panel.tsx';

export default function ConnectScreen() {
  const { me } = useSession();
  const { publicUrl, mcpUrl } = me.installation;
  const mayCreateKeys = useMay('keys.write');
  const mayRender = useMay('playground.render');
  const [curl] = snippets(`${publicUrl}/v1/render`, { html: '<h1>Hello</h1>' });
  return (
    <>
      <PageHeader title="Connect" description="Connect your code and AI tools to Pressroom." />
      <Stack maw={720}>
        <Panel
          title="Base URL"
          description="Send all requests to this URL. POST JSON; the response is the PDF."
        >
          <Stack gap="sm">
            <Fact name="Base URL" value={publicUrl} copyLabel="Copy base URL" />
            <Fact name="Endpoint" value={`${publicUrl}/v1/render`} copyLabel="Copy endpoint" />
          </Stack>
        </Panel>
        <Panel
          title="Authentication"
          description="Authenticate with an API key in the Authorization header. Never put it in client-side code."
        >
          {mayCreateKeys ? (
            <Anchor component={Link} href="/keys" underline="always">
              Create API key
            </Anchor>
          ) : (
            <Text size="sm">
              Your role cannot create API keys. Ask an owner, admin or developer of the account.
            </Text>
          )}
        </Panel>
        <Panel
          title="First request"
          description={`Set the environment variable ${KEY_VARIABLE} to your API key, then run:`}
        >
          <CodeBlock title="curl" code={curl!.code} copyLabel="Copy request" />
          {mayRender && (
            <Text size="sm" mt="sm">
              The{' '}
              <Anchor component={Link} href="/playground" underline="always" inherit>
                playground
              </Anchor>{' '}
              generates this request with any option in several languages.
            </Text>
          )}
        </Panel>
        {mcpUrl &&
          (mayRender ? (
            <McpPanel url={mcpUrl} />
          ) : (
            <Panel title={MCP_TITLE}>
              <Text size="sm">
                Your role cannot render, so you cannot connect AI tools. Ask an owner or admin of
                the account for the Developer role.
              </Text>
            </Panel>
          ))}
        <Panel title="API reference">
          <List spacing="xs" size="sm">
            <List.Item>
              <Anchor href="/docs" underline="always" inherit>
                Interactive API reference
              </Anchor>
              : all options and errors.
            </List.Item>
            <List.Item>
              <Anchor href="/openapi.json" underline="always" inherit>
                /openapi.json
              </Anchor>
              : OpenAPI 3.1 document.
            </List.Item>
          </List>
        </Panel>
      </Stack>
    </>
  );
}
