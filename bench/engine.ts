// What drives a Chrome in a process of its own: the port that each way of doing so without
// Pressroom has.
import type { Job } from './documents.ts';

export const ENGINES = ['bare', 'puppeteer', 'puppeteer-cluster'] as const;
export type EngineName = (typeof ENGINES)[number];

export interface Engine {
  /** Chrome's name and version. */
  version: string;
  /** Resolves with the PDF when all that belongs to the render is closed. */
  render(job: Job): Promise<Buffer>;
  close(): Promise<void>;
}
