// The field `metadata`: the document information of the PDF.
import { z } from 'zod';
import { text } from './field.ts';

export const MAX_METADATA_BYTES = 2_048;

/** Control characters except line breaks and tabs, which become spaces. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const PATTERN = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$';

function problem(value: string): string | undefined {
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_METADATA_BYTES)
    return `must be at most ${MAX_METADATA_BYTES} bytes of UTF-8, not ${bytes}`;
  if (CONTROL.test(value))
    return 'must not contain control characters other than line breaks and tabs';
  return value.isWellFormed() ? undefined : 'must be valid Unicode without lone surrogates';
}

const entry = (description: string, example: string) =>
  text('a string', problem, {
    description,
    examples: [example],
    pattern: PATTERN,
    maxLength: MAX_METADATA_BYTES,
  });

export const metadataShape = {
  title: entry(
    'Title of the document. Default: the `title` element of the page. An empty string removes the title.',
    'Invoice 42',
  ),
  author: entry('Author of the document.', 'Ada Lovelace'),
  subject: entry('Subject of the document.', 'Work done in November'),
  keywords: entry('Keywords, comma-separated.', 'invoice, 2026'),
};

export const metadata = z
  .strictObject(metadataShape, {
    error: 'an object with `title`, `author`, `subject` and `keywords`',
  })
  .meta({
    description: `Document information of the PDF, in any language. Producer and Creator are always Pressroom. Each text has at most ${MAX_METADATA_BYTES} bytes of UTF-8 and no control characters except line breaks and tabs, which become spaces.`,
    examples: [{ title: 'Rechnung Nº 42', author: 'Müller & 山田' }],
  })
  .optional();
