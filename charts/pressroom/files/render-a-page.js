// Renders one page through the Service, for `helm test`: with a key when there is one, else as a visitor. While workers start it tries again.
const {
  PRESSROOM_TEST_URL: url,
  PRESSROOM_TEST_KEY: key,
  PRESSROOM_TEST_TIMEOUT_SECONDS: seconds,
} = process.env;
const path = key ? '/v1/render' : '/v1/trial/render';
const end = Date.now() + Number(seconds) * 1000;
const pause = () => new Promise(resolve => setTimeout(resolve, 3000));

/** What an answer means: undefined when there is a PDF, else why not, and whether to try again. */
async function attempt() {
  const headers = {
    'content-type': 'application/json',
    ...(key && { authorization: `Bearer ${key.trim()}` }),
  };
  const body = JSON.stringify({
    html: '<h1>Pressroom</h1><p>This page was rendered by helm test.</p>',
  });
  const answer = await fetch(url + path, { method: 'POST', headers, body });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (answer.status === 200 && bytes.subarray(0, 5).toString() === '%PDF-') {
    console.log(`${url}${path} answered with a PDF of ${bytes.length} bytes.`);
    return undefined;
  }
  const text = bytes.subarray(0, 500).toString();
  if (answer.status === 404 && !key)
    return {
      why: 'Trial renders are switched off: name a key in test.existingSecret to test with.',
      again: false,
    };
  return {
    why: `${url}${path} answered ${answer.status}: ${text}`,
    again: answer.status === 429 || answer.status >= 500,
  };
}

for (;;) {
  const failure = await attempt().catch(error => ({
    why: `${url}${path}: ${error.cause?.message ?? error.message}`,
    again: true,
  }));
  if (!failure) break;
  console.log(failure.why);
  if (!failure.again || Date.now() > end) process.exit(1);
  await pause();
}
