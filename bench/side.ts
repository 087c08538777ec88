// One of those that are compared: the port that the bench has to it, whether it is a process that
// drives a Chrome or the whole service.
import type { SideName } from './cells.ts';
import type { Flow } from './closed-loop.ts';
import type { Roots } from './cpu.ts';
import type { By, DocumentName } from './documents.ts';

/** One round of a cell at one side. */
export interface Work {
  document: DocumentName;
  by: By;
  callers: number;
  stamped: boolean;
  renders: number;
}

export interface Side {
  name: SideName;
  /** The Chrome that it uses, by its own word. */
  version: string;
  /** Renders at once at most; the callers beyond it wait. */
  slots: number;
  roots: Roots;
  /** Writes what `run` will send. */
  prepare(work: Work): Promise<void>;
  /** Rejects when an answer is not the PDF that it must be. */
  run(work: Work): Promise<Flow>;
  close(): Promise<void>;
}
