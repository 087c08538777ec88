// The IDs of asynchronous renders: `rnd_` and a UUIDv7 (RFC 9562) in hexadecimal. They sort by time
// and cannot be guessed.
import { randomUUIDv7 } from 'node:crypto';

const SHAPE = /^rnd_[0-9a-f]{32}$/;

export const createJobId = (): string => `rnd_${randomUUIDv7().replaceAll('-', '')}`;

/** Others are rejected without a query. */
export const isJobId = (text: string): boolean => SHAPE.test(text);
