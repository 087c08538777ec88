// What a step of a render has at hand: the page's session, the settings, what is known of its
// document and network, and a way to fail between steps.

import type { Session } from '../workers/session.ts';
import type { BlockedRequests } from './blocked-requests.ts';
import type { MainDocument } from './main-document.ts';
import type { Navigation } from './navigation.ts';
import type { NetworkActivity } from './network-idle.ts';
import type { RenderSettings } from './render-settings.ts';

export interface Page {
  session: Session;
  settings: RenderSettings;
  document: MainDocument;
  navigation: Navigation;
  network: NetworkActivity;
  blockedRequests: BlockedRequests;
  /** Ends the render with this error, whatever step it is at. */
  fail(error: unknown): void;
}
