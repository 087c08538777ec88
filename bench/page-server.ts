// Serves the documents, their images and fonts on loopback.

import { type Page, startWebServer } from '../test/support/servers/web-server.ts';
import { type DocumentName, documents } from './documents.ts';
import { reportFiles } from './report-document.ts';

export interface PageServer {
  port: number;
  /** Base URL as `http://host:port`. */
  base: string;
  close(): Promise<void>;
}

export async function startPageServer(): Promise<PageServer> {
  const written = new Map<string, string>();
  const page =
    (name: DocumentName): Page =>
    ({ url }, response) => {
      const text =
        written.get(url!) ??
        documents[name].html(Number(/seed=(\d+)/.exec(url!)?.[1]), file => `/report/${file}`);
      written.set(url!, text);
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(text);
    };
  const pages = Object.keys(documents).map(
    name => [`/${name}`, page(name as DocumentName)] as const,
  );
  const files = [...reportFiles()].map(([name, { type, bytes }]) => {
    const file: Page = (_, response) =>
      void response
        .writeHead(200, {
          'content-type': type,
          'access-control-allow-origin': '*',
          'cache-control': 'max-age=60',
        })
        .end(bytes);
    return [`/report/${name}`, file] as const;
  });
  const { port, close } = await startWebServer(Object.fromEntries([...pages, ...files]));
  return { port, base: `http://127.0.0.1:${port}`, close };
}
