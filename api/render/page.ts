// What a step of a render has at hand: the page's session, the plan, and what is known of its document and network.
import type { MainDocument } from './main-document.ts';
import type { NetworkActivity } from './network-idle.ts';
import type { Plan } from './plan.ts';
import type { Session } from './session.ts';

export interface Page {
  session: Session;
  plan: Plan;
  document: MainDocument;
  network: NetworkActivity;
}
