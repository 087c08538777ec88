// The OpenAPI document and the schema of each field of a render request.
import { openApi } from '../../common/contract/openapi.ts';
import { fieldsOf } from '../../tools/request-fields.ts';

export const description = openApi({ publicUrl: 'https://pdf.example.com' });
export const requestSchema = description.components.schemas.RenderRequest;
export const requestFields = fieldsOf(requestSchema);
