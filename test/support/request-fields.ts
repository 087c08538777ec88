// The OpenAPI document and the schema of each field of a render request.
import { jsonSchema } from '../../common/contract/json-schema.ts';
import { openApi } from '../../common/contract/openapi.ts';
import { renderRequestSchema } from '../../common/contract/render-request.ts';
import { fieldsOf } from '../../tools/request-fields.ts';

export const description = openApi({ publicUrl: 'https://pdf.example.com' });
export const requestSchema = jsonSchema(renderRequestSchema, 'input');
export const requestFields = fieldsOf(requestSchema);
