// CRDs of other projects, from their Go modules, downloaded once and cached.
import { existsSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { cacheFolder, findOnPath, installOnce } from '../../../standalone/cache.ts';
import { runCommand } from '../../../standalone/run-command.ts';

const CRDS = {
  HTTPRoute: {
    module: 'sigs.k8s.io/gateway-api@v1.4.1',
    file: 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml',
  },
  Certificate: {
    module: 'github.com/cert-manager/cert-manager@v1.21.2',
    file: 'deploy/crds/cert-manager.io_certificates.yaml',
  },
  ExternalSecret: {
    module: 'github.com/external-secrets/external-secrets@v1.3.2',
    file: 'config/crds/bases/external-secrets.io_externalsecrets.yaml',
  },
  ScaledObject: {
    module: 'github.com/kedacore/keda/v2@v2.18.1',
    file: 'config/crd/bases/keda.sh_scaledobjects.yaml',
  },
  TriggerAuthentication: {
    module: 'github.com/kedacore/keda/v2@v2.18.1',
    file: 'config/crd/bases/keda.sh_triggerauthentications.yaml',
  },
} as const;
type Kind = keyof typeof CRDS;

const FILE = 'crd.yaml';
const DOWNLOAD_MS = 300_000;

const folderName = (kind: Kind) => `crd-${kind}-${CRDS[kind].module.replaceAll(/[/@]/g, '-')}`;
const fileOf = (kind: Kind) => join(cacheFolder(process.env), folderName(kind), FILE);

/** Why these CRDs are not available, if so: not cached, and Go is not installed. */
export function whyNoPublishedCrds(kinds: readonly Kind[]): string | undefined {
  if (kinds.every(kind => existsSync(fileOf(kind))) || findOnPath(['go'], process.env))
    return undefined;
  return `the CRDs of ${kinds.join(', ')} are not in ${cacheFolder(process.env)}, and there is no Go on PATH to download them with`;
}

/** Objects for `cluster.apply`. `go` verifies downloads with the checksum database. */
export const publishedCrds = (kinds: readonly Kind[]): Promise<object[]> =>
  Promise.all(
    kinds.map(async kind => {
      if (!existsSync(fileOf(kind)))
        await installOnce(cacheFolder(process.env), folderName(kind), folder =>
          download(kind, folder),
        );
      return parse(await readFile(fileOf(kind), 'utf8')) as object;
    }),
  );

async function download(kind: Kind, folder: string): Promise<void> {
  const { module, file } = CRDS[kind];
  const { ok, stdout, why } = await runCommand('go', ['mod', 'download', '-json', module], {
    timeoutMs: DOWNLOAD_MS,
    cwd: folder,
  });
  if (!ok) throw new Error(`go mod download ${module}: ${why}`);
  const { Dir: source } = JSON.parse(stdout) as { Dir: string };
  await copyFile(join(source, file), join(folder, FILE));
}
