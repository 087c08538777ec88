// The OpenAPI document and the schema of each field of a render request.
import { fieldsOf, jsonSchema } from '../../common/contract/json-schema.ts';
import { openApi } from '../../common/contract/openapi.ts';
import { renderRequestSchema } from '../../common/contract/render-request.ts';

export const description = openApi({ publicUrl: 'https://pdf.example.com' });
export const requestSchema = jsonSchema(renderRequestSchema, 'input');
export const requestFields = fieldsOf(requestSchema);
