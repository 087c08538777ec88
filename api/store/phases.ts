// The phases of a render in order. A separate file, because both the stored documents and the use
// case need them.

/** `post`: edits of the finished PDF, such as metadata and watermark. */
export const PHASES = ['admit', 'queue', 'load', 'wait', 'print', 'post', 'settle'] as const;
/** Milliseconds. */
export type PhaseTimings = Partial<Record<(typeof PHASES)[number], number>>;
