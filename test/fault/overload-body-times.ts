// Loaded into an API process ahead of its own code (`node --import`): a body that does not come is
// given up after 3 s of silence, not 10.
import { BODY_TIMES } from '../../api/http/body.ts';

Object.assign(BODY_TIMES, { silentMs: 3_000 });
