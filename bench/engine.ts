// The port of engines, which drive a Chrome without Pressroom.
import type { Job } from './documents.ts';

export const ENGINES = ['bare', 'puppeteer', 'puppeteer-cluster'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface Engine {
  /** Chrome's name and version. */
  version: string;
  /** Resolves with the PDF after all resources of the render are closed. */
  render(job: Job): Promise<Buffer>;
  close(): Promise<void>;
}
