// `npm run generate`: writes the generated files anew.
import { generate } from './generated.ts';

await generate();
