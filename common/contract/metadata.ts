// The field `metadata`: what the caller wants to be written into the PDF about it.
import { z } from 'zod';
import { text } from './field.ts';

export const MAX_METADATA_BYTES = 2_048;

/** Control characters other than line breaks and tabs, which are written as spaces. */
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
const PATTERN = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$';

function problem(value: string): string | undefined {
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_METADATA_BYTES)
    return `must be at most ${MAX_METADATA_BYTES} bytes of UTF-8, not ${bytes}`;
  if (CONTROL.test(value))
    return 'must not contain control characters other than line breaks and tabs';
  return value.isWellFormed()
    ? undefined
    : 'must be valid Unicode, without half of a surrogate pair';
}

const entry = (description: string, example: string) =>
  text('text in a string', problem, {
    description:
      `${description} At most ${MAX_METADATA_BYTES} bytes of UTF-8, without control characters other than ` +
      'line breaks and tabs, which are written as single spaces.',
    examples: [example],
    pattern: PATTERN,
    maxLength: MAX_METADATA_BYTES,
  });

export const metadataShape = {
  title: entry(
    "The title. Absent, it is the document's own (its `title` element); empty, the PDF has none.",
    'Invoice 42',
  ),
  author: entry('Who wrote the document. Absent or empty, the PDF names nobody.', 'Ada Lovelace'),
  subject: entry(
    'What the document is about. Absent or empty, the PDF says nothing of it.',
    'Work done in November',
  ),
  keywords: entry(
    'Words to find the document by, such as a list with commas. Absent or empty, the PDF has none.',
    'invoice, 2026',
  ),
};

export const metadata = z
  .strictObject(metadataShape, {
    error: 'an object with `title`, `author`, `subject` and `keywords`',
  })
  .meta({
    description:
      "Written into the PDF's document information, in any script. Producer and Creator say Pressroom.",
    examples: [{ title: 'Rechnung Nº 42', author: 'Müller & 山田' }],
  })
  .optional();
