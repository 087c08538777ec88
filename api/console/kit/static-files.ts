// Serves the built page (dashboard/dist) from memory: files with hashed names as immutable, and the
// page itself for every path below /app. Owns its Content-Security-Policy.
import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { ApiError } from '../../../common/contract/errors.ts';
import type { Context } from '../../http/state.ts';

export const DASHBOARD_FOLDER = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};
/** Already compressed. */
const COMPRESSED = new Set(['.png', '.woff2']);

interface File {
  type: string;
  etag: string;
  plain: Buffer;
  br?: Buffer;
  gzip?: Buffer;
}

export type StaticFiles = Awaited<ReturnType<typeof staticFiles>>;

/**
 * Only same-origin resources, no inline script, no plug-in. PDFs are shown as blobs in a frame.
 * Mantine adds style elements to the document, which need the nonce of the answer.
 */
export const contentSecurityPolicy = (nonce?: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${nonce ? ` 'nonce-${nonce}'` : ''}`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    'frame-src blob:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

async function prepare(name: string, plain: Buffer): Promise<File> {
  const extension = extname(name);
  const file: File = {
    type: TYPES[extension] ?? 'application/octet-stream',
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
  };
  if (!COMPRESSED.has(extension)) {
    file.br = await promisify(brotliCompress)(plain, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9 },
    });
    file.gzip = await promisify(gzip)(plain);
  }
  return file;
}

/** Reads the folder once. Compresses each file at its first request, to keep startup short. */
export async function staticFiles(folder = DASHBOARD_FOLDER) {
  const index = await readFile(join(folder, 'index.html'), 'utf8').catch(() => undefined);
  const names = index === undefined ? [] : await readdir(join(folder, 'assets')).catch(() => []);
  // Into memory, so that a build which replaces the folder cannot break the page of this process.
  const sources = new Map(
    await Promise.all(
      names.map(async name => [name, await readFile(join(folder, 'assets', name))] as const),
    ),
  );
  const files = new Map<string, Promise<File>>();

  /** Handles `/app/assets/…`. */
  async function asset(ctx: Context): Promise<void> {
    const name = ctx.path.slice('/app/assets/'.length);
    const source = sources.get(name);
    if (!source)
      throw new ApiError(
        'not_found',
        'File not found. The dashboard may have been updated: reload the page.',
      );
    if (!files.has(name)) files.set(name, prepare(name, source));
    const file = await files.get(name)!;
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.set('ETag', file.etag);
    ctx.vary('Accept-Encoding');
    ctx.type = file.type;
    const encoding = ctx.acceptsEncodings(['br', 'gzip', 'identity']);
    if (encoding === 'br' || encoding === 'gzip') {
      if (file[encoding]) ctx.set('Content-Encoding', encoding);
      ctx.body = file[encoding] ?? file.plain;
    } else ctx.body = file.plain;
  }

  return {
    asset,
    /** Sends the page itself. */
    page(ctx: Context) {
      if (index === undefined)
        throw new ApiError(
          'not_found',
          'The dashboard has not been built. Run `npm run build`, or use `npm start`, which builds it.',
        );
      const nonce = randomBytes(16).toString('base64');
      ctx.set('Content-Security-Policy', contentSecurityPolicy(nonce));
      ctx.set('Cache-Control', 'no-store');
      ctx.set('Referrer-Policy', 'same-origin');
      ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
      ctx.type = 'text/html; charset=utf-8';
      // The nonce is the only part of the page that differs between answers.
      ctx.body = index.replaceAll('__NONCE__', nonce);
    },
  };
}
