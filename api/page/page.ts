// What a step of a render has at hand: the page's session, the plan, what is known of its document and network, and a way to fail between steps.

import type { Session } from '../workers/session.ts';
import type { Denials } from './blocked-requests.ts';
import type { MainDocument } from './main-document.ts';
import type { Movement } from './navigation.ts';
import type { NetworkActivity } from './network-idle.ts';
import type { Plan } from './render-settings.ts';

export interface Page {
  session: Session;
  plan: Plan;
  document: MainDocument;
  movement: Movement;
  network: NetworkActivity;
  denials: Denials;
  /** Ends the render with this error, whatever step it is at. */
  fail(error: unknown): void;
}
