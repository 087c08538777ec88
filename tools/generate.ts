// `npm run generate`: writes all generated files.
import { generate } from './generated.ts';

await generate();
