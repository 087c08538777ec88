// Provides promtool for a suite, or skips the suite.
import { expect } from 'chai';
import { runCommand } from '../../standalone/run-command.ts';
import { skip } from '../support/skip.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

export const PROMTOOL_MS = 120_000;
const FETCH_MS = 6 * 60_000;

/**
 * Call it in a `describe`. Returns a function that runs promtool and returns its output.
 */
export function usePromtool(): (...args: string[]) => Promise<string> {
  let promtool = '';
  before(async function () {
    this.timeout(FETCH_MS);
    const binaries = await prometheusBinaries(console.log);
    if (!binaries)
      skip(
        this,
        'promtool is not installed and could not be downloaded (Debian package prometheus).',
      );
    promtool = binaries.promtool;
  });
  return async (...args) => {
    const { ok, stdout, why } = await runCommand(promtool, args, { timeoutMs: PROMTOOL_MS });
    expect(ok, `${why}\n${stdout}`).to.equal(true);
    return stdout;
  };
}
