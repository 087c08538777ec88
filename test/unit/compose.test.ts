import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { readApiConfig } from '../../api/config.ts';
import { readWorkerConfig } from '../../worker/config.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const read = (file: string) => readFileSync(`${ROOT}${file}`, 'utf8');

interface Service {
  build?: { target: string };
  environment?: Record<string, string>;
  security_opt?: string[];
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

describe('compose.yaml', () => {
  it('builds images that the Dockerfile has', () => {
    const targets = Object.values(services).flatMap(({ build }) => (build ? [build.target] : []));
    expect(targets).to.deep.equal(['worker', 'api']);
    for (const target of targets)
      expect(read('Dockerfile')).to.match(new RegExp(`^FROM .+ AS ${target}$`, 'm'));
  });

  it('gives the API and the worker a valid configuration that fits together', () => {
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
});
