// Writes `packages.spdx.json` into the build: the npm packages in the dashboard and their licenses.
// Image SBOMs need it because the bundled packages are not in node_modules.
import type { Plugin } from 'vite';

/** An entry of Vite's license file. */
interface Bundled {
  name: string;
  version: string;
  identifier?: string | null;
}

export const LICENSES = 'licenses.json';

/** SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/), with the fields of `npm sbom`. */
export const pagePackages = (): Plugin => ({
  name: 'page-packages',
  enforce: 'post',
  generateBundle: {
    order: 'post',
    handler(_options, bundle) {
      const written = bundle[LICENSES];
      if (written?.type !== 'asset')
        throw new Error(
          `The build did not write ${LICENSES}. Set build.license.fileName in vite.config.ts.`,
        );
      const bundled = JSON.parse(String(written.source)) as Bundled[];
      const idOf = ({ name, version }: Bundled) =>
        `SPDXRef-Package-${`${name}-${version}`.replaceAll(/[^A-Za-z0-9.-]/g, '.')}`;
      const list = {
        spdxVersion: 'SPDX-2.3',
        dataLicense: 'CC0-1.0',
        SPDXID: 'SPDXRef-DOCUMENT',
        name: 'pressroom-page',
        documentNamespace: `urn:uuid:${crypto.randomUUID()}`,
        creationInfo: {
          created: `${new Date().toISOString().slice(0, 19)}Z`,
          creators: ['Tool: vite'],
        },
        documentDescribes: bundled.map(idOf),
        packages: bundled.map(each => ({
          name: each.name,
          SPDXID: idOf(each),
          versionInfo: each.version,
          downloadLocation: 'NOASSERTION',
          filesAnalyzed: false,
          licenseDeclared: each.identifier ?? 'NOASSERTION',
          externalRefs: [
            {
              referenceCategory: 'PACKAGE-MANAGER',
              referenceType: 'purl',
              referenceLocator: `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`,
            },
          ],
        })),
      };
      this.emitFile({
        type: 'asset',
        fileName: 'packages.spdx.json',
        source: `${JSON.stringify(list, null, 2)}\n`,
      });
    },
  },
});
