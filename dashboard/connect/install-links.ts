// The links by which an editor adds this installation by itself. Pure.

const NAME = 'pressroom';

/** Form: https://code.visualstudio.com/api/extension-guides/ai/mcp (MCP URL handler). */
export const vsCodeLink = (url: string): string =>
  `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: NAME, type: 'http', url }))}`;

/** Form: https://cursor.com/docs/mcp/install-links. Base64 has signs that mean something else in a query. */
export const cursorLink = (url: string): string =>
  `cursor://anysphere.cursor-deeplink/mcp/install?name=${NAME}&config=${encodeURIComponent(btoa(JSON.stringify({ url })))}`;
