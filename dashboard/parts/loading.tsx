// A loading skeleton, about as tall as the content that replaces it.
import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';

interface Props {
  /** The number of rows. */
  rows?: number;
  /** The height of a row in pixels. */
  height?: number;
}

export function Loading({ rows = 5, height = 36 }: Props) {
  return (
    <Stack gap="xs" role="status">
      <VisuallyHidden>Loading…</VisuallyHidden>
      {Array.from({ length: rows }, (_, index) => `row ${index + 1}`).map(row => (
        <Skeleton key={row} height={height} aria-hidden />
      ))}
    </Stack>
  );
}
