// Images for tests: a plain one with Node.js, also used as the pod sandbox image, and MongoDB.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findOrInstallMongod } from '../../../standalone/mongod-binary.ts';
import type { Notify } from '../../../standalone/run-command.ts';
import type { Images } from '../image-build.ts';

const REPOSITORY = 'docker.io/library';
/** The full name of an image: `name:tag` in a pod means `docker.io/library/name:tag`. */
export const fullName = (name: string, tag: string): string => `${REPOSITORY}/${name}:${tag}`;

export const PLAIN_IMAGE = fullName('plain', 'tests');
export const MONGODB_TAG = 'tests';

/** Debian with this Node.js. Without a command it sleeps. */
export async function addPlainImage(images: Images<string>, folder: string): Promise<void> {
  await withFile(process.execPath, 'node', folder, context =>
    images.add(
      'plain',
      'FROM debian:bookworm-slim\nCOPY --chmod=755 node /usr/local/bin/node\nCMD ["sleep", "infinity"]\n',
      context,
    ),
  );
}

/** The mongod of the tests with its libraries. */
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

/** buildah scans the whole context, so each build gets a small one. */
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

/** containerd reads the full name from another annotation than the one that buildah writes. */
export async function nameForContainerd(layout: string): Promise<void> {
  const file = join(layout, 'index.json');
  const index = JSON.parse(await readFile(file, 'utf8'));
  for (const { annotations } of index.manifests)
    annotations['io.containerd.image.name'] = annotations['org.opencontainers.image.ref.name'];
  await writeFile(file, JSON.stringify(index));
}
