// What stands where something is still loading: as tall as what will come, so that nothing jumps.
import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';

interface Props {
  /** How many lines or rows. */
  rows?: number;
  /** Pixels of each. */
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
