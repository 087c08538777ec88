// Where PDFs wait for whoever has their link: in the layout of GridFS, each chunk with an end of
// its own, since the driver's bucket would leave the chunks behind.
// (https://github.com/mongodb/specifications/blob/master/source/gridfs/gridfs-spec.md)
import type { Collection, Db } from 'mongodb';

/** A PDF; its link is given away when every chunk is there. `mongofiles` reads it too. */
export interface StoredPdfDocument {
  /** The render's id. */
  _id: string;
  length: number;
  chunkSize: number;
  uploadDate: Date;
  filename: string;
  metadata: {
    account: string;
    user: string;
    /** SHA-256 of the link's token, which is stored nowhere. */
    hash: string;
    /** Of the PDF; hexadecimal. */
    sha256: string;
    pages: number;
    /** The link's end. */
    expiresAt: Date;
    /** So long it is known that there was such a link. */
    rememberedUntil: Date;
  };
}

export interface StoredPdfChunk {
  files_id: string;
  n: number;
  data: Buffer;
  expiresAt: Date;
}

export interface StoredPdfCollections {
  storedPdfs: Collection<StoredPdfDocument>;
  storedPdfChunks: Collection<StoredPdfChunk>;
}

export const storedPdfCollections = (db: Db): StoredPdfCollections => ({
  storedPdfs: db.collection('documents.files'),
  storedPdfChunks: db.collection('documents.chunks'),
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
