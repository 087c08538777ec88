// Asynchronous renders that are written to the database directly, in any state.
import { createJobCipher } from '../../api/jobs/job-cipher.ts';
import { JobFiles } from '../../api/jobs/job-files.ts';
import { createJobId } from '../../api/jobs/job-id.ts';
import type { JobDocument, Store } from '../../api/store/store.ts';
import { StoredChunks } from '../../api/store/stored-chunks.ts';

/**
 * A queued job, unless `over` has another status. With a PDF it has succeeded. `secret`:
 * PRESSROOM_SECRET.
 */
export async function storedJob(
  store: Store,
  secret: string,
  account: string,
  { pdf, ...over }: Partial<Omit<JobDocument, 'pdf'>> & { pdf?: Buffer } = {},
): Promise<JobDocument> {
  const _id = createJobId();
  const { key, wrapped } = createJobCipher(secret).createKey(_id);
  const createdAt = over.createdAt ?? new Date();
  const expiresAt = over.expiresAt ?? new Date(createdAt.getTime() + 3600e3);
  const files = new JobFiles(new StoredChunks(store));
  const job: JobDocument = {
    _id,
    account,
    status: 'queued',
    key: 'key',
    createdAt,
    expiresAt,
    keptUntil: new Date(expiresAt.getTime() + 3600e3),
    availableAt: new Date(0),
    sandbox: false,
    dataKey: wrapped,
    ...(pdf && {
      status: 'succeeded',
      attemptLog: [{ startedAt: over.startedAt ?? createdAt }],
      endedAt: createdAt,
      pages: 1,
      pdf: await files.savePdf(key, { _id, lease: 'lease', expiresAt }, pdf, AbortSignal.any([])),
    }),
    ...over,
  };
  await store.asynchronous.jobs.insertOne(job);
  return job;
}
