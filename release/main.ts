// `npm run release -- --registry REGISTRY/PATH --key KEY`: builds, pushes and signs a release. The
// version is that of package.json.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildRelease, REPOSITORY_ROOT } from './build-image.ts';
import { withoutCredentials } from './provenance.ts';
import { release } from './release.ts';
import { releaseTools } from './release-tools.ts';

const USAGE =
  'Usage: npm run release -- --registry REGISTRY/PATH --key KEY [--folder FOLDER] [--plain-http]';

const print = (line: string) => process.stdout.write(`${line}\n`);
function fail(why: string, code = 1): never {
  process.stderr.write(`${why}\n`);
  process.exit(code);
}
const git = (...args: string[]) =>
  execFileSync('git', args, { cwd: REPOSITORY_ROOT, encoding: 'utf8' }).trim();

const { values } = parseArgs({
  options: {
    registry: { type: 'string' },
    key: { type: 'string' },
    folder: { type: 'string', default: join(REPOSITORY_ROOT, 'artifacts/release') },
    'plain-http': { type: 'boolean', default: false },
  },
});
const { registry, key } = values;
if (!registry || !key) fail(USAGE, 2);
if (git('status', '--porcelain') !== '')
  fail('The tree has changes that are not committed. Commit or stash them.');

const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID } = process.env;
const repository = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
const folder = resolve(values.folder);
if (existsSync(folder))
  fail(`${folder} exists. Delete it, or choose another folder with --folder.`);
await mkdir(folder, { recursive: true });
const { version } = JSON.parse(await readFile(join(REPOSITORY_ROOT, 'package.json'), 'utf8'));
const settings = {
  registry,
  key,
  folder,
  version,
  plainHttp: values['plain-http'],
  revision: git('rev-parse', 'HEAD'),
  source: repository ?? withoutCredentials(git('remote', 'get-url', 'origin')),
  builder: repository
    ? `${repository}/actions/runs/${GITHUB_RUN_ID}`
    : 'https://pressroom.dev/release/local',
  buildOptions: [],
  tools: releaseTools({ onOutput: chunk => process.stderr.write(chunk) }),
};
const startedOn = new Date();
const { bundle, list } = await release(
  settings,
  await buildRelease(settings, print),
  startedOn,
  print,
);
print(`Published. Images: ${list}, bundle: ${bundle}`);
