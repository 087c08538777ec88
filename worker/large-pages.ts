// Has the kernel hold Chrome's program in pages of 2 MiB instead of 4 KiB: the processor finds its way in it with fewer looks, and each renderer takes fewer page faults. Nothing but speed depends on it.
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { layoutOf, programOf } from './program-layout.ts';

/**
 * Maps a file as one that wants large pages (mmap(2), madvise(2) with MADV_HUGEPAGE and MADV_POPULATE_READ) and prints how many KiB the kernel holds so. What it holds by small pages is forgotten
 * first (posix_fadvise(2), POSIX_FADV_DONTNEED) and read again where it is more than a tenth, but only once the first large page shows that they can be had here. The numbers are those of Linux on x86-64. In Perl, since Node can
 * make no such call, and each Debian has it.
 */
const FILL = String.raw`
  use strict;
  my ($mmap, $madvise, $fadvise, $large) = (9, 28, 221, 1 << 21);
  open my $file, '<', $ARGV[0] or exit 1;
  my $bytes = int((-s $file) / $large) * $large or exit 1;
  my $room = syscall $mmap, 0, $bytes + $large, 0, 0x4022, -1, 0;
  exit 1 if $room == -1;
  my $at = ($room + $large - 1) & ~($large - 1);
  sub held {
    my ($length) = @_;
    syscall $mmap, $at, $length, 1, 0x12, fileno $file, 0;
    syscall $madvise, $at, $length, 14;
    syscall $madvise, $at, $length, 22;
    open my $maps, '<', '/proc/self/smaps' or exit 1;
    my ($kib, $here) = (0, 0);
    while (<$maps>) {
      $here = hex $1 == $at if /^([0-9a-f]+)-[0-9a-f]+ /;
      $kib += $1 if $here and /^FilePmdMapped:\s+(\d+)/;
    }
    syscall $mmap, $at, $bytes, 0, 0x4032, -1, 0;
    return $kib;
  }
  sub forget { syscall $fadvise, fileno $file, 0, $_[0], 4 }
  my $kib = held($bytes);
  if ($kib < $bytes / 1024 * 0.9) {
    forget($large);
    if (held($large)) {
      forget($bytes);
      $kib = held($bytes);
    }
  }
  print $kib;
`;

/** A disk that reads 200 MB more slowly reads them for Chrome. */
const FILL_LIMIT_MS = 5_000;

/** Gives the bytes of a file that the kernel holds in large pages from now on, as long as it needs the memory for nothing else: 0 where it cannot, or takes longer than 5 s. Never rejects. */
export async function fillLargePages(file: string, signal?: AbortSignal): Promise<number> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 0;
  const limits = { timeout: FILL_LIMIT_MS, killSignal: 'SIGKILL', ...(signal && { signal }) } as const;
  const filled = promisify(execFile)('perl', ['-e', FILL, file], { cwd: '/', env: { PATH: process.env.PATH }, ...limits }).then(
    ({ stdout }) => Number(stdout) * 1_024 || 0,
    () => 0,
  );
  // Not even SIGKILL ends one that waits for a disk.
  return Promise.race([filled, sleep(2 * FILL_LIMIT_MS, 0, { ref: false })]);
}

/** Has the kernel hold a Chrome that is about to start in large pages, when its program is laid out for them. Gives the bytes as `fillLargePages` does. Never rejects. */
export async function holdInLargePages(executable: string, signal?: AbortSignal): Promise<number> {
  try {
    const program = await programOf(executable);
    return (await layoutOf(program)) === 'large' ? await fillLargePages(program, signal) : 0;
  } catch {
    return 0; // a Chrome that cannot be read is told of when it is started
  }
}
