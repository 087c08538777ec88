// The first request of a new account, as a curl command.

/** Stands in for the API key where no key is available. */
export const KEY_PLACEHOLDER = 'YOUR_API_KEY';

export const firstCall = (
  publicUrl: string,
  key = KEY_PLACEHOLDER,
) => `curl -sS --fail-with-body ${publicUrl.replace(/\/$/, '')}/v1/render \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"html": "<h1>Hello from Pressroom</h1>"}' \\
  -o render.pdf`;

/** The same as an asynchronous render. */
export const firstSubmission = (
  publicUrl: string,
) => `curl -sS --fail-with-body ${publicUrl.replace(/\/$/, '')}/v1/renders \\
  -H "Authorization: Bearer ${KEY_PLACEHOLDER}" \\
  -H "Content-Type: application/json" \\
  -d '{"html": "<h1>Hello from Pressroom</h1>", "reference": "hello"}'`;

/** For a key that cannot render. */
export const firstRead = (publicUrl: string, key: string) =>
  `curl -sS --fail-with-body ${publicUrl.replace(/\/$/, '')}/v1/account \\
  -H "Authorization: Bearer ${key}"`;
