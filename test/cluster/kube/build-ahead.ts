// Builds all programs of the cluster tests at low priority while earlier tests run.
import { setPriority } from 'node:os';
import { kubeBinaries, whyNoBinaries } from './binaries.ts';
import { type Binary, MODULES } from './versions.ts';

const names = MODULES.flatMap(({ programs }) => programs.map(({ name }) => name as Binary));

/**
 * Not the lowest priority (19): the build would outlast the earlier tests, and later ones would
 * wait.
 */
const NICE = 10;

setPriority(NICE);
// The tests that need the programs report why they are not available.
if (whyNoBinaries(names) === undefined) await kubeBinaries(names);
