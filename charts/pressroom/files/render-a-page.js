// Renders a page through the Service, for `helm test`, with the API key in the values or with one of its own, which it revokes at the end. Retries while
// the first workers start.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const {
  PRESSROOM_TEST_URL: url,
  PRESSROOM_TEST_KEY_FILE: file,
  PRESSROOM_TEST_KEY: given = file && readFileSync(file, 'utf8'),
  PRESSROOM_TEST_TIMEOUT_SECONDS: seconds,
} = process.env;
const ACCOUNT = 'helm-test';
const end = Date.now() + Number(seconds) * 1000;
const pause = () => new Promise(resolve => setTimeout(resolve, 3000));
const run = promisify(execFile);
const pressroom = async (...args) => (await run('pressroom', args)).stdout.trim();

/** A test key: its renders are not counted. If this process is killed, the key expires. */
async function createKey() {
  await pressroom('accounts', 'create', ACCOUNT).catch(error => {
    if (!/already exists/.test(error.stderr)) throw error;
  });
  const expires = new Date(end + 600_000).toISOString();
  const options = ['--name', 'helm test', '--test', '--expires', expires];
  return await pressroom('keys', 'create', '--account', ACCOUNT, ...options);
}

async function revokeKey(key) {
  const keys = JSON.parse(await pressroom('keys', 'list', '--account', ACCOUNT, '--json'));
  for (const { id, last4 } of keys)
    if (key.endsWith(last4)) await pressroom('keys', 'revoke', id, '--account', ACCOUNT);
}

let created;
async function keyOfTest() {
  if (given) return given.trim();
  created ??= await createKey();
  return created;
}

/** Returns undefined on success, otherwise the reason and whether to retry. */
async function attempt() {
  const key = await keyOfTest();
  const response = await fetch(`${url}/v1/render`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      html: '<h1>Pressroom</h1><p>This page was rendered by helm test.</p>',
    }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status === 200 && bytes.subarray(0, 5).toString() === '%PDF-') {
    console.log(`${url}/v1/render returned a PDF of ${bytes.length} bytes.`);
    return undefined;
  }
  return {
    message: `${url}/v1/render returned ${response.status}: ${bytes.subarray(0, 500)}`,
    retry: response.status === 429 || response.status >= 500,
  };
}

const messageOf = error => error.stderr?.trim() || error.cause?.message || error.message;
for (;;) {
  const failure = await attempt().catch(error => ({
    message: `${url}/v1/render: ${messageOf(error)}`,
    retry: true,
  }));
  if (!failure) break;
  console.log(failure.message);
  if (!failure.retry || Date.now() > end) {
    process.exitCode = 1;
    break;
  }
  await pause();
}
if (created) await revokeKey(created);
