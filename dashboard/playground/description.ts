// Fetches the API's own description, of which the playground's form is made.
import { CallFailed } from '../session/api.ts';
import type { JsonSchema } from './fields.ts';

/** The schema of a render request. Throws CallFailed. */
export async function renderDescription(signal: AbortSignal): Promise<JsonSchema> {
  const answer = await fetch('/openapi.json', { signal }).catch(error => {
    if (signal.aborted) throw error;
    throw new CallFailed(0, 'unreachable', 'The server does not answer. Check your connection and try again.');
  });
  if (!answer.ok) throw new CallFailed(answer.status, 'internal', `The description of the API could not be read: ${answer.status}.`);
  const { components } = (await answer.json()) as { components: { schemas: { RenderRequest: JsonSchema } } };
  return components.schemas.RenderRequest;
}
