// What a step of a render has at hand: the page's session, the settings, what is known of its
// document and network, and a way to fail between steps.

import type { RenderWarning } from '../../common/contract/warnings.ts';
import type { Session } from '../workers/session.ts';
import type { BlockedRequests, MainDocument, Navigation } from './main-document.ts';
import type { RenderSettings } from './render-settings.ts';
import type { Resources } from './resources.ts';

export interface Page {
  session: Session;
  settings: RenderSettings;
  document: MainDocument;
  navigation: Navigation;
  network: {
    /** Resolves when nothing has been under way for IDLE_MS of waits.ts. */
    idle(): Promise<void>;
  };
  blockedRequests: BlockedRequests;
  /** Of the render so far. */
  warnings: RenderWarning[];
  /** Undefined for a document that loads nothing. */
  resources: Resources | undefined;
  /**
   * The last result of the current step's wait, for the error if it times out: a sentence such as
   * `Its last value was false.`
   */
  lastSeen: string;
  /** Ends the render with this error, whatever step it is at. */
  fail(error: unknown): void;
}
