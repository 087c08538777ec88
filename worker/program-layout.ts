// How a program's file must be laid out for the kernel to hold it in large pages (large-pages.ts), and how it is laid out anew. Imports nothing of ours: the worker's image is built with it.
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';

/** Of x86-64, and of other processors whose small pages have 4 KiB. */
const LARGE_PAGE_BYTES = 2 ** 21;
const CHUNK_BYTES = 2 ** 20;
/** Of a file, to know it by. All program headers of an ELF file are there. */
const HEAD_BYTES = 4_096;
const ELF_64_LITTLE_ENDIAN = Buffer.from('\x7fELF\x02\x01', 'latin1');
/** Of the head: a program or library that can be loaded at any address (`ET_DYN`), for x86-64, on which alone this was tried. */
const [ANY_ADDRESS, X86_64] = [3, 62];
/** `PT_LOAD`. */
const LOADED = 1;
/** In a program header: what is written anew. */
const [OFFSET, ALIGNMENT] = [8, 48];

/** What a program header of an ELF file (elf(5)) says: which part of the file is where in memory. `at`: of the header itself. */
interface Segment {
  at: number;
  type: number;
  offset: number;
  address: number;
  bytes: number;
  alignment: number;
}

const wordAt = (head: Buffer, at: number) => Number(head.readBigUInt64LE(at));

/** Undefined for what is no ELF program for x86-64 that can be loaded at any address, or is built in a way in which no linker of Chrome's builds it. */
function segmentsOf(head: Buffer): Segment[] | undefined {
  if (head.length < 64 || head.compare(ELF_64_LITTLE_ENDIAN, 0, 6, 0, 6) !== 0) return undefined;
  if (head.readUInt16LE(16) !== ANY_ADDRESS || head.readUInt16LE(18) !== X86_64) return undefined;
  const [table, size, count] = [wordAt(head, 32), head.readUInt16LE(54), head.readUInt16LE(56)];
  if (size !== 56 || table + count * size > head.length) return undefined;
  const segments = Array.from({ length: count }, (_, nth) => {
    const at = table + nth * size;
    return {
      at,
      type: head.readUInt32LE(at),
      offset: wordAt(head, at + OFFSET),
      address: wordAt(head, at + 16),
      bytes: wordAt(head, at + 32),
      alignment: wordAt(head, at + ALIGNMENT),
    };
  });
  const loaded = segments.filter(({ type }) => type === LOADED);
  const ends = loaded.map(({ address, bytes }) => address + bytes);
  const inOrder = loaded.every(({ offset, address }, nth) => address >= Math.max(offset, ends[nth - 1] ?? 0));
  return inOrder && loaded[0]?.address === 0 ? segments : undefined;
}

const isLaidOut = (segments: Segment[]) =>
  segments.every(({ type, offset, address, alignment }) => offset === address && (type !== LOADED || alignment === LARGE_PAGE_BYTES));

async function headOf(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.subarray(0, bytesRead);
}

/** Rejects for what is no file: some of these never end. */
async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>, flags = 'r'): Promise<T> {
  if (flags === 'r' && !(await stat(path)).isFile()) throw new Error(`${path} is no file`);
  const file = await open(path, flags);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** A script that does nothing but run a program with its own arguments. */
const RUNS_ANOTHER = /^#![^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n)*[ \t]*(?:exec[ \t]+)?(\/\S+)[ \t]+"\$@"\s*$/;

/** The program behind an executable: itself without links, or what it runs when it is a script that does nothing else, as Debian's. Rejects when it cannot be read. */
export async function programOf(executable: string): Promise<string> {
  const script = await withFile(executable, headOf);
  return realpath(RUNS_ANOTHER.exec(script.toString('latin1'))?.[1] ?? executable);
}

/** `large`: laid out for large pages. `small`: could be. `other`: could not. Rejects when it cannot be read. */
export const layoutOf = (program: string): Promise<'large' | 'small' | 'other'> =>
  withFile(program, async file => {
    const segments = segmentsOf(await headOf(file));
    if (!segments) return 'other';
    return isLaidOut(segments) ? 'large' : 'small';
  });

/** A disk that is nearly full takes a part and says so only when it is asked again. */
async function writeAll(to: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) done += (await to.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
}

async function copySegment(from: FileHandle, to: FileHandle, { offset, address, bytes }: Segment): Promise<void> {
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await from.read(chunk, 0, Math.min(chunk.length, bytes - done), offset + done);
    if (bytesRead === 0) throw new Error('it ends before its last segment does');
    await writeAll(to, chunk.subarray(0, bytesRead), address + done);
    done += bytesRead;
  }
}

async function writeLaidOut(from: FileHandle, to: FileHandle): Promise<void> {
  const head = await headOf(from);
  const segments = segmentsOf(head);
  if (!segments) throw new Error('it is no ELF program for x86-64 that can be loaded at any address');
  for (const segment of segments) if (segment.type === LOADED) await copySegment(from, to, segment);
  for (const { at, type, address } of segments) {
    head.writeBigUInt64LE(BigInt(address), at + OFFSET);
    if (type === LOADED) head.writeBigUInt64LE(BigInt(LARGE_PAGE_BYTES), at + ALIGNMENT);
  }
  // No table of sections: only debuggers read it, and it would tell the old places.
  head.writeBigUInt64LE(0n, 40);
  head.fill(0, 58, 64);
  await writeAll(to, head, 0);
  await to.chmod((await from.stat()).mode & 0o777);
  // What is not on the disk yet could not be read again as large pages.
  await to.sync();
}

/**
 * Writes a program once more with each part of it at the offset in the file that is its address, and to be loaded at a multiple of 2 MiB: a large page of the file is one of the memory then,
 * without which the kernel maps it by small ones. What is loaded stays the same to the byte. `to`, which may be `from`, is replaced when all is written, and has the mode of `from`.
 * Throws an Error that says why when `from` cannot be laid out so.
 */
export async function layOutForLargePages(from: string, to: string): Promise<void> {
  const unfinished = `${to}.unfinished`;
  try {
    await withFile(from, source => withFile(unfinished, target => writeLaidOut(source, target), 'w'));
    await rename(unfinished, to);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new Error(`${from} cannot be laid out for large pages: ${(error as Error).message}`, { cause: error });
  }
}
