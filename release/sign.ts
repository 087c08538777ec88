// Signs images and charts with cosign, and attaches SBOM and provenance as signed attestations. No
// transparency log and no certificate authority: a signature is verified with the public key alone,
// without network.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalImage } from './build-image.ts';
import { type BuildTimes, provenanceOf } from './provenance.ts';
import {
  digestsOf,
  type Published,
  type ReleaseSettings,
  repositoryOf,
} from './release-settings.ts';
import { imageSbom } from './sbom.ts';

/** Runs cosign with one key and without services. */
export class Signer {
  readonly #settings: ReleaseSettings;
  readonly #options: string[];

  private constructor(settings: ReleaseSettings, config: readonly string[]) {
    this.#settings = settings;
    this.#options = ['--yes', '--key', settings.key, ...config];
  }

  /** Writes the configuration of cosign without services, which it would otherwise download. */
  static async create(settings: ReleaseSettings): Promise<Signer> {
    const config: string[] = [];
    for (const name of ['signing-config', 'trusted-root']) {
      const file = join(settings.folder, `${name}.json`);
      await settings.tools('cosign', name, 'create', '--out', file);
      config.push(`--${name}`, file);
    }
    return new Signer(settings, config);
  }

  /** Runs a command of cosign on an image or a chart in the registry. */
  async #onDigest(command: string, { repository }: Published, digest: string, ...more: string[]) {
    const { tools, plainHttp } = this.#settings;
    const http = plainHttp ? ['--allow-http-registry'] : [];
    const reference = `${repositoryOf(this.#settings, repository)}@${digest}`;
    await tools('cosign', command, ...this.#options, ...http, ...more, reference);
  }

  /** Signs the index and the image of each architecture. */
  async sign(published: Published): Promise<void> {
    for (const digest of digestsOf(published)) await this.#onDigest('sign', published, digest);
  }

  /** `type` is a predicate type of cosign, such as `spdxjson`. */
  async attest(published: Published, digest: string, type: string, file: string): Promise<void> {
    await this.#onDigest('attest', published, digest, '--type', type, '--predicate', file);
  }

  /** Writes the signature of a file to `FILE.sigstore.json`. */
  async signFile(file: string): Promise<void> {
    await this.#settings.tools(
      'cosign',
      'sign-blob',
      ...this.#options,
      '--bundle',
      `${file}.sigstore.json`,
      file,
    );
  }

  async writePublicKey(file: string): Promise<void> {
    const { tools, key } = this.#settings;
    await tools('cosign', 'public-key', '--key', key, '--outfile', file);
  }
}

/** Signs an image or a chart and attaches its provenance to each of its digests. */
export async function signAndAttest(
  settings: ReleaseSettings,
  signer: Signer,
  published: Published,
  times: BuildTimes,
): Promise<void> {
  await signer.sign(published);
  const name = published.repository.replaceAll('/', '-');
  const folder = join(settings.folder, 'provenance');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}-${published.tag}.json`);
  await writeFile(file, JSON.stringify(provenanceOf(settings, published.repository, times)));
  for (const digest of digestsOf(published))
    await signer.attest(published, digest, 'slsaprovenance1', file);
}

/** Writes and attaches the SBOM of an image for each architecture. */
export async function attachSboms(
  settings: ReleaseSettings,
  signer: Signer,
  published: Published,
  locals: readonly LocalImage[],
  created: string,
): Promise<void> {
  const { tools, version, folder } = settings;
  const folderOfSboms = join(folder, 'sbom');
  await mkdir(folderOfSboms, { recursive: true });
  for (const { architecture, digest } of published.platforms) {
    const { local } = locals.find(each => each.architecture === architecture)!;
    const container = (await tools('buildah', 'from', '--pull-never', local)).trim();
    try {
      const root = (await tools('buildah', 'mount', container)).trim();
      const sbom = imageSbom({ root, name: published.repository, version, digest, created });
      const file = join(
        folderOfSboms,
        `${published.repository}-${published.tag}-${architecture}.spdx.json`,
      );
      await writeFile(file, JSON.stringify(sbom, undefined, 1));
      await signer.attest(published, digest, 'spdxjson', file);
    } finally {
      await tools('buildah', 'rm', container);
    }
  }
}
