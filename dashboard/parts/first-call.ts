// The first call that a new account makes, as curl.

/** What stands where a key belongs that is not known here. */
export const KEY_PLACE = 'YOUR_API_KEY';

export const firstCall = (
  publicUrl: string,
  key = KEY_PLACE,
) => `curl -sS --fail-with-body ${publicUrl.replace(/\/$/, '')}/v1/render \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"html": "<h1>Hello from Pressroom</h1>"}' \\
  -o render.pdf`;
