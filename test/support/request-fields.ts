// The API description as the tests of the contract read it, and every field of a render request
// with its schema.
import { type JsonSchema, openApi } from '../../common/contract/openapi.ts';

export const description = openApi({ publicUrl: 'https://pdf.example.com' });
export const requestSchema = description.components.schemas.RenderRequest;

const within = (schema: JsonSchema, prefix = ''): [string, JsonSchema][] =>
  Object.entries(
    ((schema.items as JsonSchema | undefined)?.properties ?? schema.properties ?? {}) as Record<
      string,
      JsonSchema
    >,
  ).flatMap(([name, inner]): [string, JsonSchema][] => [
    [`${prefix}${name}`, inner],
    ...within(inner, `${prefix}${name}.`),
  ]);

/** Those inside objects as `margin.top`, those inside the elements of a list as `cookies.name`. */
export const requestFields = within(requestSchema);
