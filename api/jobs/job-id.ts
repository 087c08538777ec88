// The IDs of asynchronous renders and batches: a prefix and a UUIDv7 (RFC 9562) in hexadecimal. They
// sort by time and cannot be guessed.
import { randomUUIDv7 } from 'node:crypto';

const [RENDER, BATCH] = ['rnd', 'bat'];

const createId = (prefix: string) => `${prefix}_${randomUUIDv7().replaceAll('-', '')}`;
const hasShape = (prefix: string, text: string) =>
  text.startsWith(`${prefix}_`) && /^[0-9a-f]{32}$/.test(text.slice(prefix.length + 1));

export const createJobId = (): string => createId(RENDER);
export const createBatchId = (): string => createId(BATCH);

/** Others are rejected without a query. */
export const isJobId = (text: string): boolean => hasShape(RENDER, text);
export const isBatchId = (text: string): boolean => hasShape(BATCH, text);
