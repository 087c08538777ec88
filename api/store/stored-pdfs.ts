// The collections of PDFs that are stored for download links, in the layout of GridFS. Requests and
// PDFs of asynchronous renders have chunks here too. Each chunk has its own expiry, because the
// driver's bucket would never delete expired chunks.
// (https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md)
import type { Db } from 'mongodb';

/** A PDF. Its link is returned when all chunks are stored. `mongofiles` can read it too. */
export interface StoredPdfDocument {
  /** The render's ID. */
  _id: string;
  length: number;
  chunkSize: number;
  uploadDate: Date;
  filename: string;
  metadata: {
    account: string;
    user: string;
    /** SHA-256 of the link's token. The token itself is not stored. */
    hash: string;
    /** Of the PDF, in hexadecimal. */
    sha256: string;
    pages: number;
    /** When the link expires. */
    expiresAt: Date;
    /** Until then, an expired link is reported as expired rather than unknown. */
    rememberedUntil: Date;
  };
}

export interface StoredPdfChunk {
  /** The render's ID, or a text that begins with it such as `rnd_…/request`. */
  files_id: string;
  n: number;
  data: Buffer;
  expiresAt: Date;
}

export const storedPdfCollections = (db: Db) => ({
  storedPdfs: db.collection<StoredPdfDocument>('documents.files'),
  storedPdfChunks: db.collection<StoredPdfChunk>('documents.chunks'),
});

/** Idempotent. */
export async function storedPdfIndexes(db: Db): Promise<void> {
  const { storedPdfs, storedPdfChunks } = storedPdfCollections(db);
  await storedPdfs.createIndexes([
    { key: { 'metadata.hash': 1 }, unique: true, name: 'link' },
    { key: { 'metadata.account': 1, 'metadata.expiresAt': 1 }, name: 'of an account' },
    { key: { 'metadata.rememberedUntil': 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
  await storedPdfChunks.createIndexes([
    { key: { files_id: 1, n: 1 }, unique: true, name: 'pieces' },
    { key: { expiresAt: 1 }, expireAfterSeconds: 0, name: 'end' },
  ]);
}
