// Images of the tests' own beside those of the product: one with nothing but Node, which also keeps
// the namespaces of pods, and a MongoDB.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findOrInstallMongod } from '../../../standalone/mongod-binary.ts';
import type { Notify } from '../../../standalone/run-command.ts';
import type { Images } from '../image-build.ts';

const REPOSITORY = 'docker.io/library';
/** As a node names it: `docker.io/library/name:tag` is what `name:tag` of a pod means. */
export const fullName = (name: string, tag: string): string => `${REPOSITORY}/${name}:${tag}`;

export const PLAIN_IMAGE = fullName('plain', 'tests');
export const MONGODB_TAG = 'tests';

/** Debian and this Node. Without a command it does nothing, for ever. */
export async function addPlainImage(images: Images<string>, folder: string): Promise<void> {
  await withFile(process.execPath, 'node', folder, context =>
    images.add(
      'plain',
      'FROM debian:bookworm-slim\nCOPY --chmod=755 node /usr/local/bin/node\nCMD ["sleep", "infinity"]\n',
      context,
    ),
  );
}

/** The mongod that the tests use everywhere, and the libraries that it wants. */
export async function addMongodbImage(
  images: Images<string>,
  folder: string,
  notify: Notify,
): Promise<void> {
  const { path } = await findOrInstallMongod(process.env, notify);
  const lines = [
    'FROM debian:bookworm-slim',
    'RUN apt-get update && apt-get install -y --no-install-recommends libcurl4 libssl3 liblzma5 && rm -rf /var/lib/apt/lists/*',
    'COPY --chmod=755 mongod /usr/local/bin/mongod',
    'USER 10001:10001',
    'ENTRYPOINT ["mongod"]',
  ];
  await withFile(path, 'mongod', folder, context =>
    images.add('mongo', `${lines.join('\n')}\n`, context),
  );
}

/** buildah looks at all that is in a context. */
async function withFile(
  file: string,
  name: string,
  folder: string,
  use: (context: string) => Promise<void>,
): Promise<void> {
  const context = join(folder, `context-of-${name}`);
  await mkdir(context);
  await copyFile(file, join(context, name));
  await use(context);
  await rm(context, { recursive: true });
}

/** containerd takes whole names from another annotation than the one that buildah writes. */
export async function nameForContainerd(layout: string): Promise<void> {
  const file = join(layout, 'index.json');
  const index = JSON.parse(await readFile(file, 'utf8'));
  for (const { annotations } of index.manifests)
    annotations['io.containerd.image.name'] = annotations['org.opencontainers.image.ref.name'];
  await writeFile(file, JSON.stringify(index));
}
