import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readApiConfig } from '../../api/config.ts';
import { processVariables, readConfig } from '../../common/config.ts';
import { readWorkerConfig } from '../../worker/config.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');

interface Service {
  build?: { target: string };
  environment?: Record<string, string>;
  security_opt?: string[];
  healthcheck?: { test: string[] };
}

const { services } = parse(read('compose.yaml')) as { services: Record<string, Service> };
/** `.env` has a value for each variable that the file requires. */
const environmentOf = (name: string) =>
  Object.fromEntries(
    Object.entries(services[name]!.environment!).map(([variable, value]) => [
      variable,
      value.replace(/\$\{\w+:\?\}/, 'a secret of sixteen characters'),
    ]),
  );

const operationsPort = (env: Record<string, string>) =>
  readConfig(processVariables, env).PRESSROOM_OPERATIONS_PORT;

describe('compose.yaml', () => {
  it('builds images that the Dockerfile has', () => {
    const targets = Object.values(services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(targets).to.deep.equal(['worker', 'api']);
    for (const target of targets)
      expect(read('Dockerfile')).to.match(new RegExp(`^FROM .+ AS ${target}$`, 'm'));
  });

  it('configures the API and the worker with valid values that match', () => {
    const api = readApiConfig(environmentOf('api'));
    const worker = readWorkerConfig(environmentOf('worker'));
    expect(api.poolSecret).to.equal(worker.secret);
    expect(environmentOf('api').PRESSROOM_WORKERS).to.equal(`ws://worker:${worker.gateway.port}`);
    expect(environmentOf('api').MONGODB_URI).to.include('mongodb:27017').and.include('rs0');
  });

  it("starts the worker with the seccomp profile of Chrome's sandbox", () => {
    const [profile] = services.worker!.security_opt!.filter(each => each.startsWith('seccomp:'));
    expect(existsSync(`${ROOT}${profile!.slice('seccomp:'.length)}`)).to.equal(true);
  });

  for (const [name, url] of [
    ['api', () => `http://127.0.0.1:${readApiConfig(environmentOf('api')).http.port}/readyz`],
    ['worker', () => `http://127.0.0.1:${operationsPort(environmentOf('worker'))}/readyz`],
  ] as const)
    it(`checks the health of the ${name} with Node, which its image contains`, async () => {
      const { test } = services[name]!.healthcheck!;
      expect(test.slice(0, 3)).to.deep.equal(['CMD', 'node', '-e']);
      const script = test[3]!;
      expect(script).to.include(`'${url()}'`);
      let status = 200;
      const server = createServer((request, response) => {
        response.writeHead(request.url === '/readyz' ? status : 404).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const run = async () => {
        const here = script.replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${port}`);
        const child = spawn(process.execPath, ['-e', here], { stdio: 'ignore' });
        return ((await once(child, 'exit')) as [number])[0];
      };
      expect(await run(), 'ready').to.equal(0);
      status = 503;
      expect(await run(), 'not ready').to.equal(1);
      server.close();
      server.closeAllConnections();
      expect(await run(), 'not listening').to.equal(1);
    });
});
