// The port of a compared side: an engine that drives Chrome, or the complete service.
import type { SideName } from './cells.ts';
import type { Flow } from './closed-loop.ts';
import type { Roots } from './cpu.ts';
import type { By, DocumentName } from './documents.ts';

/** One round of a cell on one side. */
export interface Work {
  document: DocumentName;
  by: By;
  callers: number;
  stamped: boolean;
  renders: number;
  /** Each render is one of a random account of these (default: 1). */
  accounts?: number;
}

export interface Side {
  name: SideName;
  /** The version reported by its Chrome. */
  version: string;
  /** Maximum concurrent renders; further callers wait. */
  slots: number;
  roots: Roots;
  /** Prepares the requests of `run`. */
  prepare(work: Work): Promise<void>;
  /** Rejects if a response is not the expected PDF. */
  run(work: Work): Promise<Flow>;
  close(): Promise<void>;
}
