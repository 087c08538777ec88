// The API description as the tests of the contract read it, and every field of a render request
// with its schema.
import { openApi } from '../../common/contract/openapi.ts';
import { fieldsOf } from '../../tools/request-fields.ts';

export const description = openApi({ publicUrl: 'https://pdf.example.com' });
export const requestSchema = description.components.schemas.RenderRequest;
export const requestFields = fieldsOf(requestSchema);
