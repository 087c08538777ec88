// The phases of a render, in the order in which they happen. A file of its own, since the store's
// documents and the use case both speak of them.

/** `post` is what is done to the finished PDF. */
export const PHASES = ['admit', 'queue', 'load', 'wait', 'print', 'post', 'settle'] as const;
/** Milliseconds. */
export type PhaseTimings = Partial<Record<(typeof PHASES)[number], number>>;
