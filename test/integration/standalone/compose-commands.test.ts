// The README's commands for Docker Compose. A program named `docker` runs what Compose would run in
// the container of the API, with the environment of compose.yaml and the `.env` of the first command.
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readApiConfig } from '../../../api/config.ts';
import { renderCall } from '../../support/http-call.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { readmeCommands } from '../../support/readme-commands.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

interface Service {
  environment: Record<string, string>;
}

/** The arguments of `docker` are those of the README; any others fail. */
const DOCKER = `#!/bin/sh
case "$*" in
  "compose up --build --detach --wait") exit 0 ;;
  "compose exec api pressroom "*) shift 4; exec "${process.execPath}" "${ROOT}cli/in-image.ts" "$@" ;;
esac
echo "unexpected: docker $*" >&2
exit 64
`;

describe('the commands of the README for Docker Compose', () => {
  const at = temporaryFolder();
  let pressroom: Installation;
  let environment: Record<string, string>;
  after(() => pressroom?.stop());

  const commands = readmeCommands.filter(command => /^(for name|docker) /.test(command));
  const sh = (command: string, env: Record<string, string> = {}) =>
    run('/bin/sh', ['-ec', command], {
      cwd: at(),
      env: { ...process.env, PATH: `${at('bin')}:${process.env.PATH}`, ...env },
    });

  it('create the secrets that compose.yaml requires', async () => {
    await sh(commands[0]!);
    const secrets = Object.fromEntries(
      (await readFile(at('.env'), 'utf8'))
        .trim()
        .split('\n')
        .map(line => line.split('=') as [string, string]),
    );
    const { services } = parse(await readFile(`${ROOT}compose.yaml`, 'utf8')) as {
      services: Record<'api' | 'worker', Service>;
    };
    const resolved = (text: string) =>
      text.replace(/\$\{(\w+):\?\}/g, (_, name: string) => {
        if (!secrets[name]) throw new Error(`.env has no ${name}`);
        return secrets[name];
      });
    environment = Object.fromEntries(
      Object.entries(services.api.environment).map(([name, text]) => [name, resolved(text)]),
    );
    expect(resolved(services.worker.environment.PRESSROOM_POOL_SECRET!)).to.equal(
      readApiConfig(environment).poolSecret,
    );
  });

  it('create an account and print a key that renders', async () => {
    const { PRESSROOM_PEPPER: pepper, PRESSROOM_SECRET: secret } = environment;
    pressroom = await installation({
      env: { PRESSROOM_PEPPER: pepper!, PRESSROOM_SECRET: secret! },
    });
    await mkdir(at('bin'));
    await writeFile(at('bin/docker'), DOCKER, { mode: 0o755 });
    const printed = [];
    for (const command of commands.slice(1))
      printed.push(await sh(command, { ...environment, MONGODB_URI: pressroom.uri }));
    const key = printed.at(-1)!.stdout.trim();
    expect(key).to.match(/^pressroom_live_\w+$/);
    const answer = await renderCall(pressroom.api.port(), key, { html: '<h1>Hello</h1>' });
    expect(answer.status).to.equal(200);
  });

  it('are the same in docs/operations.md', async () => {
    expect(commands).to.have.length(4);
    const page = await readFile(`${ROOT}docs/operations.md`, 'utf8');
    expect(page).to.include(`\`\`\`sh\n${commands.join('\n')}\n\`\`\``);
  });
});
