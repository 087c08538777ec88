// What a page session records about its page, whatever the outcome.
import type { RenderWarning } from '../../common/contract/warnings.ts';
import type { ConsoleLine } from './page-console.ts';
import type { ResourceErrors } from './resources.ts';

export interface PageReport {
  /** Of the page's console; absent when it is not read. */
  console?: ConsoleLine[];
  resources: ResourceErrors;
  warnings: RenderWarning[];
}

export const newPageReport = (): PageReport => ({
  resources: { count: 0, listed: [] },
  warnings: [],
});
