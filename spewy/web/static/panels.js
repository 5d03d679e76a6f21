/**
 * The panels of the look page, in the order of their tabs. A panel asks only `context.source`, and shows only if the
 * source has the question: a notebook and an exported page have fewer questions than the server.
 */

import { chunkPanel } from "./chunkpanel.js";
import { comparePanel } from "./comparepanel.js";
import { curvesPanel } from "./curves.js";
import { lockPanel } from "./lockpanel.js";
import { runoutsPanel } from "./runouts.js";
import { savePanel } from "./savepanel.js";

export const LOOK_PANELS = [curvesPanel, runoutsPanel, comparePanel, chunkPanel, lockPanel, savePanel];
