// Sample OAuth clients of AI assistants and editors, as observed in 2026: their dynamic
// registrations and their client metadata documents.

const GRANTS = ['authorization_code', 'refresh_token'];
const DEVICE = 'urn:ietf:params:oauth:grant-type:device_code';
/** Metadata of a public client besides its name and redirect URIs. */
const PUBLIC = {
  grant_types: GRANTS,
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

/** The registration of each client, and the redirect URI and scope that it then uses. */
export const REGISTRATIONS: Record<
  string,
  { metadata: Record<string, unknown>; used?: string; scope?: string; consentText: string }
> = {
  'Claude on the web': {
    metadata: {
      ...PUBLIC,
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      scope: 'render',
      application_type: 'web',
    },
    consentText: 'redirected to claude.ai',
  },
  'Claude with a secret': {
    metadata: {
      ...PUBLIC,
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    consentText: 'redirected to claude.ai',
  },
  'Claude Code': {
    metadata: {
      ...PUBLIC,
      client_name: 'Claude Code (pressroom)',
      redirect_uris: ['http://localhost:3118/callback'],
    },
    used: 'http://localhost:61234/callback',
    scope: 'render offline_access',
    consentText: 'on this computer (localhost:61234)',
  },
  ChatGPT: {
    metadata: {
      ...PUBLIC,
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/aBcD-1_2'],
    },
    scope: 'openid email render',
    consentText: 'redirected to chatgpt.com',
  },
  'ChatGPT with a secret': {
    metadata: {
      ...PUBLIC,
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    consentText: 'redirected to chatgpt.com',
  },
  Codex: {
    metadata: {
      ...PUBLIC,
      client_name: 'Codex',
      redirect_uris: ['http://127.0.0.1:43123/callback/an-id'],
    },
    consentText: 'on this computer (127.0.0.1:43123)',
  },
  'VS Code on this computer': {
    metadata: {
      ...PUBLIC,
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: [...GRANTS, DEVICE],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      scope: 'render offline_access',
      application_type: 'native',
    },
    used: 'http://127.0.0.1:50321/',
    consentText: 'on this computer (127.0.0.1:50321)',
  },
  'VS Code by its redirect page': {
    metadata: {
      ...PUBLIC,
      client_name: 'Visual Studio Code',
      grant_types: ['authorization_code'],
      redirect_uris: ['http://127.0.0.1:33418', 'https://vscode.dev/redirect'],
      application_type: 'native',
    },
    used: 'https://vscode.dev/redirect',
    consentText: 'redirected to vscode.dev',
  },
  ...Object.fromEntries(
    Object.entries({
      'cursor://anysphere.cursor-mcp/oauth/callback': 'the app that opens cursor: links',
      'https://www.cursor.com/agents/mcp/oauth/callback': 'redirected to www.cursor.com',
      'http://localhost:8787/callback': 'on this computer (localhost:8787)',
    }).map(([used, consentText], _, all) => {
      const metadata = { ...PUBLIC, client_name: 'Cursor', redirect_uris: all.map(([uri]) => uri) };
      return [`Cursor, to ${used}`, { metadata, used, consentText }];
    }),
  ),
  'the Inspector': {
    metadata: {
      ...PUBLIC,
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      redirect_uris: ['http://localhost:6274/oauth/callback'],
      scope: '',
      application_type: 'native',
    },
    consentText: 'on this computer (localhost:6274)',
  },
  'an app that says as little as it can': {
    metadata: { redirect_uris: ['https://app.example/cb'], application_type: 'web' },
    consentText: 'An app without a name',
  },
};

/** The client metadata documents, and the redirect URI that each client uses. */
export const DOCUMENTS: Record<
  string,
  {
    document: Record<string, unknown> & { client_id: string; redirect_uris: string[] };
    used?: string;
  }
> = {
  'Claude on the web': {
    document: {
      ...PUBLIC,
      client_id: 'https://claude.ai/oauth/mcp-oauth-client-metadata',
      client_name: 'Claude',
      client_uri: 'https://claude.ai',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: [...GRANTS, 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    },
  },
  'Claude Code': {
    document: {
      ...PUBLIC,
      client_id: 'https://claude.ai/oauth/claude-code-client-metadata',
      client_name: 'Claude Code',
      client_uri: 'https://claude.ai',
      redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    },
    used: 'http://localhost:54545/callback',
  },
  'ChatGPT, which prefers a key of its own': {
    document: {
      ...PUBLIC,
      client_id: 'https://chatgpt.com/oauth/client.json',
      client_name: 'ChatGPT',
      client_uri: 'https://chatgpt.com/',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg: 'RS256',
      jwks_uri: 'https://chatgpt.com/oauth/jwks.json',
      logo_uri: 'https://persistent.oaistatic.com/sonic/misc/openai-logo.png',
    },
  },
  'ChatGPT, which names no one way': {
    document: {
      client_id: 'https://chatgpt.com/oauth/mcp/client.json',
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector/oauth/mcp'],
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      grant_types: GRANTS,
      response_types: ['code'],
    },
  },
  'VS Code': {
    document: {
      ...PUBLIC,
      client_id: 'https://vscode.dev/oauth/client-metadata.json',
      client_name: 'Visual Studio Code',
      client_uri: 'https://vscode.dev/product',
      logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
      redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      grant_types: [...GRANTS, DEVICE],
      application_type: 'native',
    },
    used: 'http://127.0.0.1:40321/',
  },
};
