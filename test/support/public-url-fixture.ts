// An installation whose public URL is where it listens, as redirects in a browser need it; with a
// company's sign-in where one is wanted; and a browser.

import { type ConsoleBrowser, consoleBrowser } from './console/console-browser.ts';
import { type ConsoleFixture, consoleFixture } from './console/console-fixture.ts';
import { freePort } from './servers/free-port.ts';
import { type TestProvider, testProvider } from './servers/identity-provider.ts';

export interface PublicUrlFixture {
  fixture: ConsoleFixture;
  browser: ConsoleBrowser;
  publicUrl: string;
  /** The company's sign-in, where there is one. */
  provider: TestProvider | undefined;
  stop(): Promise<void>;
}

export async function publicUrlFixture({ company = false } = {}): Promise<PublicUrlFixture> {
  // The company has to know the way back before the installation listens.
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const provider = company
    ? await testProvider({ callback: `${publicUrl}/app/sign-in/company/callback` })
    : undefined;
  const fixture = await consoleFixture({
    workers: 0,
    env: {
      PRESSROOM_PORT: String(port),
      PRESSROOM_PUBLIC_URL: publicUrl,
      ...(provider && { ...provider.env, PRESSROOM_OIDC_NAME: 'Example account' }),
    },
  });
  // Without anybody there would be the setup first.
  await fixture.person({ operator: true });
  const browser = await consoleBrowser(fixture);
  return {
    fixture,
    browser,
    publicUrl,
    provider,
    stop: async () => {
      await browser.close();
      await fixture.stop();
      await provider?.stop();
    },
  };
}
