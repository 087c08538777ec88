// @proves POST /v1/render
// The service conforms to its OpenAPI document: schemathesis sends valid and invalid requests
// generated from /openapi.json and checks every response.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../../standalone/run-command.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { type PythonTools, pythonTools } from '../../support/python-tools.ts';
import { skip } from '../../support/skip.ts';

/**
 * Each is a call with a render or a rejection. `npm test` takes few; PRESSROOM_TEST_EXAMPLES=2000
 * takes more.
 */
const EXAMPLES = process.env['PRESSROOM_TEST_EXAMPLES'] ?? '20';
const RUN_MS = 900_000;

/**
 * The phase `coverage` sends about 700 bodies to each operation with the schema of a render. Both
 * parse it with the same code, so this one has only the other phases.
 */
const CONFIGURATION = `[[operations]]
include-path = "/v1/trial/render"
phases.coverage.enabled = false
`;

const SCHEMATHESIS = 'from schemathesis.cli import schemathesis; schemathesis()';

const CHECKS = [
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'missing_required_header',
  'unsupported_method',
  'ignored_auth',
];

describe('the OpenAPI document', function () {
  this.timeout(RUN_MS + 60_000);
  let pressroom: Installation;
  let tools: PythonTools;
  let folder: string;
  before(async function () {
    try {
      tools = await pythonTools();
    } catch (error) {
      skip(this, `schemathesis is not here: ${(error as Error).message}`);
    }
    folder = await mkdtemp(join(tmpdir(), 'pressroom-description-'));
    await writeFile(join(folder, 'schemathesis.toml'), CONFIGURATION);
    // URLs are random: no name resolves, and every connection goes to a proxy that does not
    // exist.
    const closed = '127.0.0.1:9';
    pressroom = await installation({
      env: {
        PRESSROOM_DNS_SERVERS: closed,
        PRESSROOM_EGRESS_PROXY: `http://${closed}`,
        PRESSROOM_RENDER_TIMEOUT: '2s',
        PRESSROOM_TRIAL_PER_MINUTE: '1000',
      },
    });
  });
  after(async () => {
    await pressroom?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  it('matches the responses to valid and invalid requests', async () => {
    const seed = process.env['PRESSROOM_TEST_SEED'] ?? String(Math.floor(Math.random() * 1e9));
    console.log(`      seed of schemathesis: ${seed}`);
    let output = '';
    const ran = await runCommand(
      tools.python,
      [
        ...['-c', SCHEMATHESIS, 'run', `${pressroom.url}/openapi.json`],
        ...['--url', pressroom.url, '--header', `Authorization: Bearer ${pressroom.key}`],
        ...[
          '--checks',
          CHECKS.join(','),
          '--phases',
          'examples,coverage,fuzzing',
          '--max-examples',
          EXAMPLES,
          '--seed',
          seed,
        ],
        // One worker: Python 3.11 mixes up two threads that parse source at once ("AST constructor
        // recursion depth mismatch").
        ...[
          '--workers',
          '1',
          '--request-timeout',
          '60',
          '--continue-on-failure',
          '--no-color',
          '--suppress-health-check',
          'all',
        ],
      ],
      {
        timeoutMs: RUN_MS,
        cwd: folder,
        env: { ...tools.env, NO_PROXY: '*', no_proxy: '*' },
        onOutput: chunk => {
          output += chunk;
        },
      },
    );
    expect(ran.ok, output.slice(-6_000)).to.equal(true);
  });

  it('produces no render that fails because of the service', async () => {
    const samples = readSamples(await pressroom.metrics.text());
    for (const outcome of ['internal', 'worker_lost', 'database', 'no_worker'])
      expect(samples.sum('pressroom_renders_total', { outcome }), outcome).to.equal(0);
    expect(samples.sum('pressroom_renders_total', { outcome: 'ok' })).to.be.greaterThan(0);
  });
});
