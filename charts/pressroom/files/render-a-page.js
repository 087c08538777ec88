// Renders a page through the Service, for `helm test`: with an API key if one is set, otherwise as a trial render. Retries while the first workers start.
const {
  PRESSROOM_TEST_URL: url,
  PRESSROOM_TEST_KEY: key,
  PRESSROOM_TEST_TIMEOUT_SECONDS: seconds,
} = process.env;
const path = key ? '/v1/render' : '/v1/trial/render';
const end = Date.now() + Number(seconds) * 1000;
const pause = () => new Promise(resolve => setTimeout(resolve, 3000));

/** Returns undefined on success, otherwise the reason and whether to retry. */
async function attempt() {
  const headers = {
    'content-type': 'application/json',
    ...(key && { authorization: `Bearer ${key.trim()}` }),
  };
  const body = JSON.stringify({
    html: '<h1>Pressroom</h1><p>This page was rendered by helm test.</p>',
  });
  const response = await fetch(url + path, { method: 'POST', headers, body });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status === 200 && bytes.subarray(0, 5).toString() === '%PDF-') {
    console.log(`${url}${path} returned a PDF of ${bytes.length} bytes.`);
    return undefined;
  }
  const text = bytes.subarray(0, 500).toString();
  if (response.status === 404 && !key)
    return {
      message: 'Trial renders are disabled. Set test.existingSecret to a Secret with an API key.',
      retry: false,
    };
  return {
    message: `${url}${path} returned ${response.status}: ${text}`,
    retry: response.status === 429 || response.status >= 500,
  };
}

for (;;) {
  const failure = await attempt().catch(error => ({
    message: `${url}${path}: ${error.cause?.message ?? error.message}`,
    retry: true,
  }));
  if (!failure) break;
  console.log(failure.message);
  if (!failure.retry || Date.now() > end) process.exit(1);
  await pause();
}
