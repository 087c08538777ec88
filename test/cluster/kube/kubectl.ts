// kubectl as a function.
import { execFile } from 'node:child_process';
import type { Json } from './api-request.ts';

const LIMIT_MS = 120_000;
const MAX_OUTPUT_BYTES = 256 * 2 ** 20;

/**
 * Returns the stdout of kubectl; rejects with its stderr. `input` is its stdin, for the argument
 * `-`.
 */
export type Kubectl = (...args: (string | { input: string })[]) => Promise<string>;

/** `home` is a writable folder for its cache. */
export const kubectlWith =
  (program: string, kubeconfig: string, home: string): Kubectl =>
  (...args) => {
    const words = args.filter((arg): arg is string => typeof arg === 'string');
    const input =
      args.find((arg): arg is { input: string } => typeof arg === 'object')?.input ?? '';
    return new Promise((resolve, reject) => {
      const env = { PATH: process.env.PATH ?? '', KUBECONFIG: kubeconfig, HOME: home };
      const child = execFile(
        program,
        words,
        { env, timeout: LIMIT_MS, maxBuffer: MAX_OUTPUT_BYTES },
        (error, stdout, stderr) => {
          if (error)
            reject(new Error(`kubectl ${words.join(' ')}: ${stderr.trim() || error.message}`));
          else resolve(stdout);
        },
      );
      // kubectl may exit without reading all of its input.
      child.stdin!.on('error', () => {});
      child.stdin!.end(input);
    });
  };

/** Applies objects with server-side apply, CRDs first, and waits until these are established. */
export async function applyObjects(kubectl: Kubectl, objects: readonly object[]): Promise<void> {
  const apply = async (items: readonly object[]) => {
    if (items.length === 0) return;
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    await kubectl('apply', '--server-side', '--force-conflicts', '-f', '-', { input });
  };
  const kinds = (objects as readonly Json[]).filter(
    ({ kind }) => kind === 'CustomResourceDefinition',
  );
  await apply(kinds);
  for (const { metadata } of kinds)
    await kubectl('wait', '--for=condition=Established', '--timeout=60s', `crd/${metadata.name}`);
  await apply(objects.filter(object => !kinds.includes(object)));
}
