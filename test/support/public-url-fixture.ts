// An installation that listens at its public URL, as redirects in a browser require, with a browser
// and an optional identity provider.

import { type ConsoleBrowser, consoleBrowser } from './console/console-browser.ts';
import { type ConsoleFixture, consoleFixture } from './console/console-fixture.ts';
import { freePort } from './servers/free-port.ts';
import { type TestProvider, testProvider } from './servers/identity-provider.ts';

export interface PublicUrlFixture {
  fixture: ConsoleFixture;
  browser: ConsoleBrowser;
  publicUrl: string;
  /** The identity provider, if the installation uses SSO. */
  provider: TestProvider | undefined;
  stop(): Promise<void>;
}

export async function publicUrlFixture({ company = false } = {}): Promise<PublicUrlFixture> {
  // The provider needs the callback URL before the installation listens.
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
  // Without a user, the dashboard shows the setup page.
  await fixture.createUser({ operator: true });
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
