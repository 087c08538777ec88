// A web server that pages under test call from inside Chrome: while a page's call is open, the page
// is alive. It counts running renders independently of Pressroom.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Held {
  account: string;
  render: string;
  response: ServerResponse;
}

export interface ProbePages {
  readonly port: number;
  /** The address of a page that answers 500, or that closes the connection without a response. */
  bad(how: 'fails' | 'breaks'): string;
  /**
   * A document that is finished when the server answers its call. `render` names it; to be sent
   * with `wait_for_expression: 'window.done'`.
   */
  page(account: string, render: string): { html: string; wait_for_expression: string };
  /** The number of the account's pages that are alive now. */
  alive(account: string): number;
  /** The largest number of them at any time since the start. */
  most(account: string): number;
  /** The number of calls by pages of this render: two after a retry. */
  calls(render: string): number;
  /** Resolves when this number of the account's pages is alive. */
  until(account: string, count: number): Promise<void>;
  /** Lets the page of one render finish. */
  letGo(render: string): void;
  /** Lets all pages of the account finish, including later ones. */
  release(account: string): void;
  close(): Promise<void>;
}

export async function startProbePages(): Promise<ProbePages> {
  const held = new Set<Held>();
  const most = new Map<string, number>();
  const calls = new Map<string, number>();
  const released = new Set<string>();
  let onChange: (() => void)[] = [];
  const changed = () => {
    for (const look of onChange) look();
  };
  const alive = (account: string) => [...held].filter(each => each.account === account).length;

  function letGo(which: (each: Held) => boolean): void {
    for (const each of [...held].filter(which)) {
      // before its page can know, so that the next page of the account is not counted beside it
      held.delete(each);
      each.response.end('done');
    }
    changed();
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://probe-pages');
    if (pathname === '/fails') return void response.writeHead(500).end('It failed.');
    if (pathname === '/breaks') return void response.destroy();
    const account = searchParams.get('account')!;
    const render = searchParams.get('render')!;
    calls.set(render, (calls.get(render) ?? 0) + 1);
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/plain' });
    response.write('.');
    if (released.has(account)) return void response.end('done');
    const mine = { account, render, response };
    held.add(mine);
    most.set(account, Math.max(most.get(account) ?? 0, alive(account)));
    // The page is gone, or done.
    response.once('close', () => {
      held.delete(mine);
      changed();
    });
    changed();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    port,
    bad: how => `http://127.0.0.1:${port}/${how}`,
    page: (account, render) => ({
      html: `<p>${render}</p><script>fetch('http://127.0.0.1:${port}/?${new URLSearchParams({ account, render })}').then(answer => answer.text()).then(() => { window.done = true; });</script>`,
      wait_for_expression: 'window.done',
    }),
    alive,
    most: account => most.get(account) ?? 0,
    calls: render => calls.get(render) ?? 0,
    until: (account, count) =>
      new Promise(resolve => {
        const look = () => {
          if (alive(account) !== count) return;
          onChange = onChange.filter(each => each !== look);
          resolve();
        };
        onChange.push(look);
        look();
      }),
    letGo: render => letGo(each => each.render === render),
    release: account => {
      released.add(account);
      letGo(each => each.account === account);
    },
    close: () => {
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
