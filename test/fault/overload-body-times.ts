// Loaded into an API process ahead of its own code (`node --import`): a body that does not come is given up after 5 s of silence and 10 s in all, not 10 and 60.
import { BODY_TIMES } from '../../api/http/body.ts';

Object.assign(BODY_TIMES, { silentMs: 5_000, totalMs: 10_000 });
